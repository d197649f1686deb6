"""What the devices exchange while the program runs, what hides it, and what caused it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.collectives import collective_table as tables
from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.collectives.collective_ops import any_in
from jaxstage_ext.analysis.collectives.collective_rows import SourceProgram
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.fact import fact, slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.propagated_module import propagated_module, propagation_dump
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def collectives(program: Program, progress: Progress | None) -> Collectives:
    """The collectives of the optimised module. Raises Unavailable where there is none.

    What caused them is asked of the compiler once more; where that fails the table says why it is unknown.
    """
    _check_partitioned(program)
    if not any_in(program.module):
        return causeless_collectives(program)
    about = _with_causes(program, progress)
    return _beside_work(program, tables.read(program.module, instruction_places(program), about))


def _check_partitioned(program: Program) -> None:
    """Raise Unavailable for a module of several devices before the partitioner, which inserts its collectives."""
    if program.is_to_be_partitioned and not any_in(program.module):
        raise Unavailable("XLA's partitioner, which inserts collectives, has not run on this module")


@fact
def _without_causes(program: Program) -> Collectives:
    _check_partitioned(program)
    return _beside_work(program, causeless_collectives(program))


def exchanges(program: Program) -> Collectives:
    """`collectives` without causes, for which nothing is compiled; with them where they are known by now."""
    known = collectives.known(program)
    return _without_causes(program) if known is None else known


def count(program: Program) -> int:
    """How many collectives the optimised module has; 0 without one."""
    if not program.has_hlo:
        return 0
    number = int(np.isin(program.module.opcode, hlo.COLLECTIVES).sum())
    in_pieces = number and platform(program) == "tpu"  # TPUs carry one out in several fusions
    return len(exchanges(program)) if in_pieces else number


def _beside_work(program: Program, found: Collectives) -> Collectives:
    """The collectives with the time that other work hides; without any there is nothing to compute."""
    if not found.rows:
        return found
    roof = device_roofline(program)
    return exposed_time.attached(found, dict(zip(roof.rows.tolist(), roof.seconds.tolist(), strict=True)))


def _with_causes(program: Program, progress: Progress | None) -> SourceProgram:
    """What is to be known of the program beside its module; the compiler is asked once more."""
    if program.jax_lowered is None:
        return SourceProgram(program_devices.device_count(program), why_unknown="JAX did not lower it")
    places = program_devices.device_places(program)
    meshes, links = (
        program_devices.meshes(program, program_devices.boundary_values(program)),
        program_devices.links(program, places),
    )
    try:
        module = propagated_module(program, progress)
    except (RuntimeError, ValueError, OSError, MemoryError) as error:  # the rest of the table holds
        why = f"recompiling up to the partitioner failed: {str(error).splitlines()[0] if str(error) else error!r}"
        return SourceProgram(len(places), meshes, links, None, why)
    why, warnings = "it runs on one device" if module is None else "", propagation_dump(program).warnings
    return SourceProgram(len(places), meshes, links, module, why, warnings)
