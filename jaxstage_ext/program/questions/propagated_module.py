"""The module as the partitioner got it, after XLA propagated the shardings: asked of the compiler once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaxstage_ext.analysis.sharding import lost_lines, propagation
from jaxstage_ext.analysis.sharding.lost_lines import Written
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.core.recompile import pass_pipeline as recompiled
from jaxstage_ext.core.recompile.pass_pipeline import Propagation
from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.program.device.program_devices import boundary_values, device_places, meshes
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.document import INFERRED
from jaxstage_ext.report.progress import Progress


@slow_fact
def propagation_dump(program: Program, progress: Progress | None) -> Propagation:
    """Compile as far as the partitioner once more, in the worker.

    Raises Unavailable where the worker cannot, and what a compile in the worker raises.
    """
    return recompiled.recompile_to_partitioner(program.staged, progress)


def propagated_module(program: Program, progress: Progress | None = None) -> Propagated | None:
    """The module after propagation; None where nothing is propagated. Raises as `propagation_dump`."""
    dump = propagation_dump(program, progress).module
    if dump is None:
        return None
    given = boundary_values(program)
    read = propagation.read(dump, len(device_places(program)), meshes(program, given))
    linked = hlo_document.sources(read.ops, program.frame_table)
    frames = program.frame_table.freeze()
    users = np.append(frames.user, -1)[linked.frame].tolist()
    labels = {frame: line_label(frames, frame) for frame in set(users)}
    explicit = any(value.sharding and value.sharding.get("explicit") for value in given)
    lines = [labels[frame] for frame in users]
    found = lost_lines.found(read.ops, lines, (linked.flags & INFERRED) > 0, _written(program))
    lines = [found.get(row, line) for row, line in enumerate(lines)]
    return replace(read, lines=lines, frame=linked.frame.tolist(), explicit=explicit, restored=frozenset(found))


def _written(program: Program) -> Written:
    """The operations of the StableHLO with their source lines."""
    document = program.documents["stablehlo"]
    frames = document.user_frame.tolist()
    labels = {frame: line_label(document.frames, frame) for frame in set(frames)}
    return lost_lines.written(document.lines, (labels[frame] for frame in frames))
