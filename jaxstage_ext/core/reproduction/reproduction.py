"""What XLA compiles a program from, without what is the user's, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import packages, worker_requests
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import Limits


@dataclass(frozen=True)
class Reproduction:
    """A program as XLA is given it, with random constants in place of the user's."""

    target: Target
    module: str = field(repr=False)
    """StableHLO text."""
    options: bytes = field(repr=False)
    """A serialised CompileOptionsProto."""
    hlo: str = field(repr=False)
    """The optimised module's text."""
    order: tuple[int, ...]
    """The devices that it runs on, of so many as there are in `room`."""
    room: int
    device: str = field(repr=False)
    """What the compiler takes for the device: a TPU's configuration, a GPU's description."""
    variables: Mapping[str, str]
    """Of the environment, which XLA reads."""
    versions: Mapping[str, str]
    """Of packages, by name."""
    replaced: int
    """Constants with random values in place of their own."""
    flat: int
    """Those of them that have one value."""
    kernels: int
    """Of Pallas, which keep the names of their functions."""


def reproduction(staged: Staged) -> Reproduction:
    """What compiles a program once more. Compiles it in the worker.

    Raises what `preparation.prepared` and a compile in the worker raise.
    """
    prepared = preparation.prepared(staged)
    cleaned = prepared.recompile("without_data", staged.limits)
    request = {**prepared.request, "module": cleaned["text"].encode(), "options": cleaned["options"]}
    made = replace(prepared, request=request).recompile("compile", staged.limits, large_constants=False)
    target = prepared.target
    return Reproduction(
        target,
        cleaned["text"],
        cleaned["options"],
        made["text"] or "",
        tuple(request["order"]),
        request["room"],
        _device(prepared, staged.limits),
        _variables(prepared),
        _versions(target),
        cleaned["replaced"],
        cleaned["flat"],
        cleaned["kernels"],
    )


def _device(prepared: Prepared, limits: Limits) -> str:
    target = prepared.target
    if target.platform != "cuda":
        return target.configuration
    request = {"method": "device_description"}
    return str(worker_requests.ask(target, request, limits, prepared.environment, lane="recompile"))


def _variables(prepared: Prepared) -> dict[str, str]:
    """XLA's own variables, without flags that name files or folders."""
    kept = {}
    for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS"):
        flags = [flag for flag in prepared.environment.variable(name).split() if not _names_files(flag)]
        if flags:
            kept[name] = " ".join(flags)
    return kept


def _names_files(flag: str) -> bool:
    return "/" in flag or "dump" in flag


def _versions(target: Target) -> dict[str, str]:
    versions = {"jaxlib": jax_options.jaxlib_version()}
    if target.platform == "tpu":
        versions["libtpu"] = packages.find("tpu").version
    if target.platform == "cuda":
        versions["jax-cuda-pjrt"] = packages.find("cuda").version
    return versions
