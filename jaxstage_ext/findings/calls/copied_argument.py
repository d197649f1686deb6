"""Arguments that every call copies: from the host, or to another device, sharding or layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core.inputs import host_copies
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.behaviour.call_dispatch import FROM_HOST, MOVED, RELAID, RESHARDED, PassedArray, passed_arrays
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

LEAST_SECONDS, LEAST_BYTES = 0.001, 1 << 20
"""Of a call, below which a copy is not worth a line of code."""
_HIDDEN = 3
"""How many times as long the device takes at least, so that it is never waiting for a copy."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the arrays of NumPy, and one for those that lie where the program does not read them."""
    if not _may_copy(program):
        return []
    rows = passed_arrays(program)
    from_host = [row for row in rows if row.done == FROM_HOST and isinstance(row.leaf, np.ndarray)]
    moved = [row for row in rows if row.done in (MOVED, RESHARDED, RELAID)]
    return [*_from_host(program, from_host), *_moved(moved)]


def _from_host(program: Program, rows: Sequence[PassedArray]) -> list[Finding]:
    alone = [row for row in rows if row.sharding.num_devices == 1]
    size = sum(int(row.leaf.nbytes) for row in alone)
    if size < LEAST_BYTES:
        return []
    seconds = host_copies.seconds_to_copy([row.leaf for row in alone], alone[0].sharding)
    device = stakes.figure(program, StakeMeasure.TIME)
    if seconds is None or seconds < LEAST_SECONDS or (device is not None and device > _HIDDEN * seconds):
        return []
    return [_finding(alone, wording.copied_from_host(_names(alone), size, seconds), seconds, wording.NEW_IN_EVERY_CALL)]


def _moved(rows: Sequence[PassedArray]) -> list[Finding]:
    size = sum(row.placed or 0 for row in rows)
    if size < LEAST_BYTES:
        return []
    return [_finding(rows, wording.moved(_names(rows), size, rows[0].done), None, "")]


def _names(rows: Sequence[PassedArray]) -> tuple[str, ...]:
    return tuple(row.name for row in sorted(rows, key=lambda row: -(row.placed or 0)))


def _finding(rows: Sequence[PassedArray], text: str, seconds: float | None, caveat: str) -> Finding:
    names = _names(rows)
    return Finding(
        FindingKind.COPIED_ARGUMENT,
        text,
        Stake(StakeMeasure.HOST, None, seconds),
        names=names,
        change=CodeChange(wording.put_once(names, _place(rows))),
        certainty=Certainty.ESTIMATED,
        caveat=caveat,
    )


def _place(rows: Sequence[PassedArray]) -> str:
    """The sharding that all of them are taken in, as Python writes it; "" of one device, or where they differ."""
    shardings: set[Any] = {row.sharding for row in rows}
    sharding = shardings.pop()
    if shardings or not isinstance(sharding, jax.sharding.NamedSharding):
        return ""
    return f"NamedSharding(mesh, {sharding.spec})".replace("PartitionSpec", "P")


def _is_here(program: Program) -> bool:
    """Whether the executable is in this kernel, and takes the arguments as the call gives them."""
    if not isinstance(program.executable, jax.stages.Compiled) or program.call.given is not None:
        return False
    try:
        return not _may_copy(program) or bool(passed_arrays(program))
    except Unavailable:
        return False


def _may_copy(program: Program) -> bool:
    """Whether an array that the call is given is not one of JAX's on the only device of the program."""
    if program_devices.device_count(program) > 1:
        return True
    here = {jax.local_devices()[0]}
    leaves = jax.tree.leaves((program.call.args, dict(program.call.kwargs)))
    return any(isinstance(leaf, np.ndarray | jax.Array) and not _lies_on(leaf, here) for leaf in leaves)


def _lies_on(leaf: Any, devices: set[Any]) -> bool:
    return isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) and leaf.sharding.device_set == devices


DETECTOR = Detector(FindingKind.COPIED_ARGUMENT, find, _is_here)
