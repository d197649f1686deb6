"""What an executable tells: the text and the proto of its module, XLA's analyses, what became of autotune results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jaxlib import _hlo, _jax  # type: ignore[attr-defined, unused-ignore]

_LOOKUPS = re.compile(r"cache stats: hits=(\d+), misses=(\d+)")
_TUNED_FOR = re.compile(r"Device fingerprint: (\w+) from|key = <key model='([^']*)'")


def artefacts(executable: Any, platform: str, large_constants: bool, cpu_client: Callable[[], Any]) -> dict[str, Any]:
    """Text and proto of the optimised module (None without one), "cost" and "memory" as `analysis` gives them."""
    module = module_of(executable)
    return {
        "text": None if module is None else text(module, large_constants),
        "proto": None if module is None else module.as_serialized_hlo_module_proto(),
        "cost": analysis(lambda: _costs(executable, module, platform, cpu_client)),
        "memory": analysis(lambda: memory_stats(executable)),
    }


def module_of(executable: Any) -> Any:
    """The optimised module; None where there is none."""
    return next(iter(executable.hlo_modules()), None)


def text(module: Any, large_constants: bool) -> str:
    """A module's text without metadata, large constants spelled out or as `{...}`."""
    printing = _hlo.HloPrintOptions()
    printing.print_metadata = False
    printing.print_large_constants = large_constants
    return str(module.to_string(printing))


def text_of_proto(proto: bytes) -> str:
    """The text of a serialised HloModuleProto, as `text` gives it."""
    return text(_hlo.HloModule.from_serialized_hlo_module_proto(proto), large_constants=False)


def memory_stats(executable: Any) -> dict[str, int]:
    """XLA's memory statistics, by name."""
    stats = executable.get_compiled_memory_stats()
    values = {name: getattr(stats, name) for name in dir(stats) if not name.startswith("_")}
    return {name: value for name, value in values.items() if isinstance(value, int)}


def analysis(read: Callable[[], Any]) -> tuple[Any, str | None]:
    """(value, None), or (None, the error of XLA)."""
    try:
        return read(), None
    except Exception as error:
        return None, str(error)


def _costs(executable: Any, module: Any, platform: str, cpu_client: Callable[[], Any]) -> Any:
    """The CUDA plugin gives none without a GPU, so XLA's analysis for the CPU reads the module instead."""
    if platform != "cuda":
        return executable.cost_analysis()
    return _jax.hlo_module_cost_analysis(cpu_client(), module)


def autotuned(log: str) -> dict[str, Any]:
    """How many of XLA's choices found an autotune result, by its log, and what it calls the GPU there."""
    counts = [(int(hits), int(misses)) for hits, misses in _LOOKUPS.findall(log)]
    device = _TUNED_FOR.search(log)
    return {
        "hits": sum(hits for hits, _ in counts),
        "choices": sum(map(sum, counts)) if counts else None,
        "device": (device[1] or device[2]) if device else None,
    }
