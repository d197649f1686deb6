"""Executables: their optimised modules, as text and as protos."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxlib import _hlo  # type: ignore[attr-defined, unused-ignore]


def hlo_modules(compiled: Any) -> list[Any]:
    """The optimised modules of an executable; empty where the backend gives none."""
    executable = compiled.runtime_executable()
    return list(executable.hlo_modules()) if executable is not None else []


def fingerprint(compiled: Any) -> str:
    """XLA's fingerprint of a `jax.stages.Compiled`; "" where its backend gives none."""
    try:
        given = compiled.runtime_executable().fingerprint
        return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given or "")
    except Exception:  # of another platform, or a worker's executable
        return ""


def hlo_text(module: Any, large_constants: bool) -> str:
    """A module's text without metadata, large constants spelled out or as `{...}`."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = False
    options.print_large_constants = large_constants
    return str(module.to_string(options))


def hlo_proto(module: Any) -> bytes:
    """A module as a serialised HloModuleProto."""
    return bytes(module.as_serialized_hlo_module_proto())


def hlo_text_of_proto(proto: bytes) -> str:
    """The text of a serialised HloModuleProto, as `hlo_text` gives it."""
    return hlo_text(_hlo.HloModule.from_serialized_hlo_module_proto(proto), large_constants=False)


def module_of_loaded(executable: Any) -> Any:
    """The optimised module of a LoadedExecutable; None where the backend gives none."""
    return next(iter(executable.hlo_modules()), None)


def costs_of_loaded(executable: Any) -> dict[str, float]:
    """XLA's cost analysis of a LoadedExecutable."""
    return dict(executable.cost_analysis())


def memory_of_loaded(executable: Any) -> dict[str, int]:
    """XLA's memory statistics of a LoadedExecutable, in bytes."""
    stats = executable.get_compiled_memory_stats()
    return {name: int(getattr(stats, name)) for name in dir(stats) if name.endswith("_bytes")}


class ReadExecutable:
    """What an executable says of itself, read at once, without the executable: that keeps its Python callbacks alive.

    It answers as a LoadedExecutable does, and cannot be run.
    """

    def __init__(self, executable: Any) -> None:
        self.identity = id(executable)
        self.hlo_modules = _answered(executable.hlo_modules)
        self.cost_analysis = _answered(executable.cost_analysis)
        self.get_compiled_memory_stats = _answered(executable.get_compiled_memory_stats)
        self.size_of_generated_code_in_bytes = _answered(executable.size_of_generated_code_in_bytes)


def _answered(ask: Callable[[], Any]) -> Callable[[], Any]:
    """What gives the answer, or raises what was raised instead, each time."""
    try:
        answer = ask()
    except Exception as error:  # each backend has its own
        kind, text = type(error), str(error)

        def refuse() -> Any:
            raise kind(text)

        return refuse
    return lambda: answer


def is_made_by(kept: Any, executable: Any) -> bool:
    """Whether what is kept is an executable, or was read from it: one that is alive has an address of its own."""
    return kept is executable or (type(kept) is ReadExecutable and kept.identity == id(executable))
