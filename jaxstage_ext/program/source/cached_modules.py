"""The modules of a recording whose executables JAX's persistent cache gave.

XLA records the runs of such an executable under the number that its program had when it was compiled, perhaps in
another process, and holds its HLO under a new number. So the number leads to no module, or to another program's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.program.source import recorded_lines
from jaxstage_ext.report.recording import RecordedModule, Recording
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.typed_forms import typed

_MOST_NAMED = 3
_WHY = (
    "the profile does not hold the program that ran, or holds several that may have; this happens to executables of "
    "JAX's persistent cache. {} of the call of the jitted function shows both"
)


def _why() -> str:
    return _WHY.format(typed("%%profile", "jaxstage_ext.profile"))


def with_cached_modules(recording: Recording) -> Recording:
    """A recording of this kernel in which such modules have the HLO of what ran, or none where that is not known."""
    ran = np.unique(recording.ops.module).tolist()
    modules = list(recording.modules)
    for number in ran:
        if recorded_lines.has_hit(modules[number].name):
            modules[number] = replace(modules[number], proto=_proto(recording, number))
    return replace(recording, modules=tuple(modules))


def notes(recording: Recording) -> list[str]:
    """What is said of modules that ran and whose HLO is not known."""
    ran = (recording.modules[number] for number in np.unique(recording.ops.module).tolist())
    names = sorted({module.name for module in ran if module.name and module.proto is None})
    return [f"The HLO and lines of {_listed(names)} are unknown: {_why()}."] if names else []


def _listed(names: list[str]) -> str:
    return some(names, _MOST_NAMED)


def _proto(recording: Recording, number: int) -> Callable[[], bytes] | None:
    """What reads the HLO of a module; None where modules of its name differ and each may be the one that ran."""
    module = recording.modules[number]
    names = _ran(recording, number)
    fitting = [(held, tuple(known)) for held, known in _held(recording, module.name) if names <= set(known)]
    if len({known for _, known in fitting}) != 1:
        return None
    return next((held for held, _ in fitting if held.program == module.program), fitting[0][0]).proto


def _ran(recording: Recording, number: int) -> set[bytes]:
    ops = np.flatnonzero(recording.ops.module == number).tolist()
    return {recording.ops.name[op].encode() for op in ops}


def _held(recording: Recording, name: str) -> Iterator[tuple[RecordedModule, list[bytes]]]:
    for held in recording.modules:
        if held.name == name and (module := recorded_modules.parsed(held)) is not None:
            yield held, module.names
