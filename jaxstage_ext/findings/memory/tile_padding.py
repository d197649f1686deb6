"""Arrays that fill a TPU's tiles in part: what the rest of the tiles takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.findings import code_change, stakes
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST = 4 << 20
"""Bytes without data."""
_LEAST_SHARE = 0.1
"""Of the memory needed."""
_VIEWS = (b"bitcast", b"tuple", b"get-tuple-element", b"while", b"conditional", b"call", b"constant")
_ENDS = (b"-done", b"-update")


class Padded(NamedTuple):
    """The shape of an array in tiles."""

    shape: str
    size: int
    """The dimension that fills its part of a tile the least."""
    to: int
    """What it is filled up to."""


def applies(program: Program) -> bool:
    """Whether the device has tiled layouts."""
    return is_compiled(program) and program.target.platform == "tpu"


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the line whose arrays waste the most."""
    module = program.module
    rows = in_memory(module)
    waste = (module.shapes.padded - module.shapes.bytes)[rows]
    rows, waste = rows[waste >= LEAST], waste[waste >= LEAST]
    if not len(rows):
        return []
    given = module.opcode[rows] == b"parameter"
    room = stakes.temporaries(program)
    of_temporaries = float(waste[~given].sum())
    most = float(waste[given].sum()) + (of_temporaries if room is None else min(of_temporaries, room))
    stake = stakes.stake(program, StakeMeasure.MEMORY, most)
    if most < LEAST or (stake.share is not None and stake.share < _LEAST_SHARE):
        return []
    places, order = instruction_places(program), np.argsort(-waste, kind="stable")
    worst = int(rows[order[0]])
    padded = _padded(program, int(places.row[worst]))
    shape, sizes = padded.shape if padded else wording.AN_ARRAY, module.shapes
    return [
        Finding(
            FindingKind.TILE_PADDING,
            wording.tile_padding(shape, int(sizes.padded[worst]), int(sizes.bytes[worst])),
            stake,
            line=places.line[worst],
            rows={"hlo": tuple(places.row[rows[order[:8]]].tolist())},
            change=code_change.change(wording.fill_tiles(padded.size, padded.to), "") if padded else None,
            certainty=Certainty.ESTIMATED,
            tab="memory",
        )
    ]


def in_memory(module: Module) -> Longs:
    """The instructions that have an array of their own in the device's memory."""
    fusions = module.opcode[module.called.owner] == b"fusion"
    inside = np.isin(module.computation, module.called.values[fusions])
    inside |= (module.opcode == b"parameter") & (module.computation != module.entry)
    here = (module.shapes.apart == 0) & ~inside & ~np.isin(module.opcode, _VIEWS)
    return np.flatnonzero(here & ~np.array([opcode.endswith(_ENDS) for opcode in module.opcode.tolist()], bool))


def _padded(program: Program, row: int) -> Padded | None:
    """The shape of the instruction in a row of the document, and its dimension that wastes the most."""
    if row < 0:
        return None
    text = program.documents["hlo"].lines[row].partition(" = ")[2]
    found = layout_text.read(text[: text.find(" ", 1)] if not text.startswith("(") else text)[:1]
    if not found or not found[0].tiles:
        return None
    [layout] = found
    minor = [layout.sizes[d] for d in layout.order[: len(layout.tiles[0])]]
    filled = [(size, -(-size // tile) * tile) for size, tile in zip(minor, reversed(layout.tiles[0]), strict=False)]
    if not filled:
        return None
    size, to = max(filled, key=lambda pair: pair[1] / max(pair[0], 1))
    return Padded(f"{layout.type}{layout.text}", size, to)


DETECTOR = Detector(FindingKind.TILE_PADDING, find, applies)
