"""The list of targets, with what the installed compilers support."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import jax

from jaxstage_ext.core.targets import environments, packages
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.core.targets.target import GPUS, LARGEST_POD, TPUS, parse
from jaxstage_ext.report.text.units import plural


@dataclass(frozen=True)
class TargetRow:
    """One line of the list: an example of a target, its description, and what it needs (None if it is ready)."""

    example: str
    what: str
    lacks: str | None = None


def rows() -> Iterator[TargetRow]:
    """The rows of the list, CPUs first."""
    yield TargetRow("local", f"this kernel's {jax.default_backend()}, {_own_devices()}")
    yield TargetRow("cpu:8", "virtual CPU devices, up to 4,096")
    tpu = packages.find("tpu")
    unknown = _unknown_to_libtpu(tpu) if not tpu.lacks else {}
    for kind, example in TPUS.items():
        what = f"{_title(kind)}, up to {LARGEST_POD[kind]:,} chips" + (
            f" (libtpu {tpu.version})" if tpu.version else ""
        )
        yield TargetRow(example, what, tpu.lacks or unknown.get(kind))
    cuda = packages.find("cuda")
    for kind in GPUS:
        yield TargetRow(f"{kind}:8", f"{_title(kind)}, heuristic, not autotuned; several hosts: {kind}:2x8", cuda.lacks)
    if tpu.note:
        yield TargetRow("", tpu.note)


def _own_devices() -> str:
    """`8 devices`; with several processes, how many of them are this one's."""
    devices = plural(jax.device_count(), "device")
    if jax.process_count() == 1:
        return devices
    own = f"{jax.local_device_count():,} of them this one's"
    return f"{devices} of {jax.process_count():,} processes, {own}"


def text() -> str:
    """The rows as aligned lines."""
    lines = []
    for row in rows():
        state = f"{row.what}: {row.lacks}" if row.lacks else row.what
        lines.append(f"{'✗' if row.lacks else '✓'} {row.example:<16} {state}" if row.example else f"  {state}")
    return "\n".join(lines)


def _unknown_to_libtpu(compiler: packages.InstalledCompiler) -> dict[str, str]:
    """The TPU generations that the installed libtpu does not support, and the reason; empty if it gives no answer."""
    from jaxstage_ext.worker import pool  # it needs Unix

    names = {kind: parse(example).topology for kind, example in TPUS.items()}
    request = {"method": "topologies", "platform": "tpu", "library": compiler.library, "names": list(names.values())}
    with contextlib.suppress(pool.RequestFailed):
        answers = pool.ask("tpu", request, timeout=30, environment=environments.taken("tpu"))
        missing = f"not supported by libtpu {compiler.version}"
        return {kind: missing for kind, name in names.items() if isinstance(answers[name], str)}
    return {}


def _title(kind: str) -> str:
    device = CATALOGUE[kind]
    return device.title + (f", {device.memory / 1e9:.0f} GB" if device.memory else "")
