"""What a reader has to know of a program before trusting what is shown: its target, its options, its links."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.analysis.memory.fit import Fits
from jaxstage_ext.analysis.sharding.device_places import processes
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout import specs
from jaxstage_ext.core.options import autotune, flag_values, unread_flags
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.targets import gpu_descriptions
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.ir.sources import source_wording
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.head import capture_wording
from jaxstage_ext.program.head.argument_wording import deletion, narrowing
from jaxstage_ext.program.head.call_arguments import deleted, narrowed
from jaxstage_ext.program.kinds import logged_wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source import cached_lines, cached_modules, version_wording
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.shortened import some

_DUMPS = 4
_MEASURED = "what XLA tunes was chosen by autotune results, the rest may still differ from a real one"
_NO_LINES = (
    "Nothing links to source: JAX recorded no line of your code (a library function, or one that returns its inputs)."
)
_NO_LOCATIONS = "Nothing links to source: the file names no line of it."
_NOT_OPTIMISED = (
    "This is HLO before or between XLA's passes: its fusions, memory and collectives are not those of what runs. "
    "Compile it for a target to see that: -t local."
)
_HEURISTIC = "kernels and tiles are XLA's heuristic choice, not autotuned, and may differ from those of a real one"
_OWN_SORT = "Large sorts are XLA's own: CUB's, which a real GPU may use, does not compile without one."
_LARGE_SORT = 1 << 15
"""Elements from which on XLA takes CUB's sort."""


def options_of(program: Program) -> dict[str, Any]:
    """The compile options in force: those that the function was jitted with, and this call's above them."""
    return lowered_modules.own_options(program.jax_lowered) | dict(program.call.compiler_options)


def notes(program: Program) -> list[str]:
    """The notes in the order in which views show them."""
    if program.own_notes is not None:
        return list(program.own_notes)
    written = [specs.note(program.call)] if program.call.layout is not None else []
    written += capture_wording.sentences(program.captured) if program.captured is not None else []
    written += narrowing(narrowed(program)) + deletion(deleted(program))
    written += (
        _isolation(program)
        + _about_target(program)
        + _recorded(program)
        + flag_values.notes(options_of(program), platform(program))
    )
    written += [version_wording.note(version) for version in program.old_versions] + _dumped(program)
    written += _processes(program)
    written += logged_wording.notes(program) + cached_lines.notes(program) + _unread_flags(program) + _sources(program)
    if program.recording is not None and not program.is_foreign:
        written += cached_modules.notes(program.recording)
    written += [] if program.is_optimised else [_NOT_OPTIMISED]
    coverage = program.coverage
    if coverage and coverage.total and not coverage.linked:
        written.append(_NO_LOCATIONS if program.is_of_file else _NO_LINES)
    return written


def _dumped(program: Program) -> list[str]:
    """Where JAX wrote the IR that it was asked to dump."""
    names = program.staged.dumped
    if not names:
        return []
    return [f"JAX wrote {some(names, _DUMPS)} to {public_folders(stages.dump_folder())} (jax_dump_ir_to)."]


def _processes(program: Program) -> list[str]:
    """Whom a run over several processes waits for, which JAX does without a word."""
    if not program_devices.of_several_processes(program):
        return []
    many = processes(program_devices.device_places(program))
    return [f"Its devices are of {many} processes: a run waits until each of them makes the same call."]


def _isolation(program: Program) -> list[str]:
    """Why a worker compiled for the kernel's own devices, under which limit, and how to have the executable here."""
    large = program.staged.large
    return [large.note] if large is not None and program.compiled is not None else []


def _about_target(program: Program) -> list[str]:
    """How far what is shown may be from what that device would run."""
    target, compiled = program.target, program.compiled
    if not isinstance(compiled, Executable):
        return []
    written, version = [], compiled.version
    if target.platform == "tpu":
        written.append(f"Compiled by libtpu {version} without a TPU; nothing was run.")
    if target.platform == "cuda":
        tuned = compiled.tuned
        chosen = _MEASURED if tuned and tuned.decided and tuned.decided == tuned.choices else _HEURISTIC
        written.append(f"Compiled by the CUDA plugin {version} without a GPU: {chosen}; nothing was run.")
        written += [tuned.note] if tuned else []
        written += [_OWN_SORT] if _sorts_much(program) else []
        if not gpu_descriptions.in_plugin(version):
            written.append(f"The plugin describes no GPUs; {target.kind} is described to it by JAXStage.")
    used, available = compiled.devices, target.devices or 0
    if used < available and target.name != "local":
        several = "a mesh of" if used > 1 else "no mesh or sharding and takes"
        written.append(f"The program has {several} {used:,} of the target's {available:,} devices.")
    return [*written, *_does_not_fit(program), *compiled.notes]


def _sorts_much(program: Program) -> bool:
    rows = program.module.rows(b"sort") if program.has_hlo else ()
    return any(program.module.shapes.elements[row] >= _LARGE_SORT for row in rows)


def _unread_flags(program: Program) -> list[str]:
    environment = program.staged.environment
    note = unread_flags.note(environment.variable("XLA_FLAGS")) if environment else None
    return [note] if note else []


def _sources(program: Program) -> list[str]:
    """Which source files are no longer those that JAX traced."""
    table = program.frame_table
    labels = ((table.source(name).label, table.sources.state(name)) for name in table.sources.shown)
    return [note for label, state in labels if (note := source_wording.note(label, state))]


def _recorded(program: Program) -> list[str]:
    """What became of the autotune results that were to be saved."""
    path = options_of(program).get(autotune.SAVE)
    if not path or program.compiled is None:
        return []
    here = program.target.is_local and platform(program) == "gpu"
    return [autotune.recorded(path) if here else autotune.unrecorded(path, program.target)]


def _does_not_fit(program: Program) -> list[str]:
    fit = device_fit(program)
    return [fit.text] if fit.answer in (Fits.NO, Fits.WITH_SETTING) else []
