"""Whether a program has room on its device, what could be changed, and whether XLA says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxstage_ext.analysis.memory.buffers import RESIDUAL
from jaxstage_ext.report.table import Column, Table, scaled

if TYPE_CHECKING:
    from jaxstage_ext.analysis.memory.live_memory import Memory

CLOSE = 0.01
"""Figures nearer than this to each other are said to agree."""
GPU_SHARE = 0.75
"""Of a GPU's memory that JAX takes by default: docs.jax.dev, "GPU memory allocation"."""
WORTH = 0.01
"""Share of what is reserved below which an advice is not given."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OOM = re.compile(r"\(([\d.]+)([KMGT]?)i?B?\) exceeds available HBM \(([\d.]+)([KMGT]?)i?B?\)")


class Device(NamedTuple):
    """What a program is held against: a name, and bytes of memory or why they are not known."""

    title: str
    memory: int | None
    reason: str = ""


@dataclass(frozen=True)
class Fit:
    """Whether it fits.

    Attributes:
      fits: None where it is not known.   needed: bytes that the device must hold.   room: bytes that it has, or None.
      text: all of this in one sentence.
    """

    fits: bool | None
    needed: int
    room: int | None
    text: str


def exceeded(error: str) -> tuple[int, int] | None:
    """(bytes needed, bytes there) of libtpu's out-of-memory error; None for any other text. They are rounded."""
    found = _OOM.search(error)
    if found is None:
        return None
    needed, there = ((float(found[i]), _UNITS.get(found[i + 1], 1)) for i in (1, 3))
    return round(needed[0] * needed[1]), round(there[0] * there[1])


def fit(memory: Memory) -> Fit:
    """Hold what the program needs against its device."""
    space = memory.space()
    code = memory.stats.get("generated_code_size_in_bytes", 0) if memory.platform == "tpu" else 0
    needed = space.reserved + (space.local if memory.platform == "tpu" else 0) + code
    title, room, reason = memory.device
    refused = exceeded(memory.error or "")
    if refused:
        room = refused[1]
        text = f"Does not fit: it needs {scaled(needed, 'B')}, {needed / room:.0%} of what libtpu gives a program"
        return Fit(False, needed, room, f"{text} on {title} ({scaled(room, 'B')}).")
    if room is None:
        known = "libtpu, which refuses what does not fit, compiled it" if memory.platform == "tpu" else reason
        fits = True if memory.platform == "tpu" and not memory.error else None
        head = "Fits" if fits else "Whether it fits is unknown"
        return Fit(fits, needed, None, f"{head}: it needs {scaled(needed, 'B')}; {known}.")
    verdict = "Does not fit" if needed > room else "Fits"
    text = f"{verdict}: it needs {scaled(needed, 'B')} of the {scaled(room, 'B')} of {title} ({_share(needed, room)})"
    if memory.platform == "cuda" and room >= needed > GPU_SHARE * room:
        text += "; JAX takes 75% of a GPU's memory unless XLA_PYTHON_CLIENT_MEM_FRACTION says otherwise"
    return Fit(needed <= room, needed, room, text + ".")


def _share(needed: int, room: int) -> str:
    share = needed / room
    if share >= 10:
        return f"{share:,.0f} times as much"
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.001 else "under 0.1%"


class _Advice(NamedTuple):
    what: str
    bytes: int
    how: str
    line: str = ""


def advice(memory: Memory) -> Table:
    """What could be changed; bytes are those concerned, an upper bound of what the change would save."""
    found = [*_residuals(memory), *_donation(memory), *_padding(memory), *_gaps(memory), *_constants(memory)]
    least = WORTH * memory.space().reserved
    kept = sorted((one for one in found if one.bytes >= max(least, 1)), key=lambda one: -one.bytes)
    columns = {
        "what": Column([one.what for one in kept]),
        "bytes": Column(
            np.array([one.bytes for one in kept], np.int64), "B", "that it concerns: at most this is saved"
        ),
        "how": Column([one.how for one in kept]),
        "line": Column([one.line for one in kept]),
    }
    return Table("advice", columns)


def _residuals(memory: Memory) -> list[_Advice]:
    """What the backward pass keeps alive at the peak."""
    space, found = memory.space(), memory.laid.buffers
    rows = found.at(space.position, space.color)
    rows = rows[found.kind[rows] == RESIDUAL]
    if not len(rows):
        return []
    by_line: dict[str, int] = {}
    for row in rows.tolist():
        made = int(found.instruction[row])
        line = memory.places.line[made] if made >= 0 else ""
        by_line[line] = by_line.get(line, 0) + int(found.size[row])
    line, most = max(by_line.items(), key=lambda item: item[1])
    how = "jax.checkpoint computes values anew in the backward pass"
    how += f"; most come from {line} ({scaled(most, 'B')})." if line else "."
    return [_Advice("Saved for the backward pass", int(found.size[rows].sum()), how, line)]


def _donation(memory: Memory) -> list[_Advice]:
    """Arguments that a result of the same shape could replace, and donations that came to nothing."""
    arguments, results = list(memory.arguments.rows()), list(memory.results.rows())
    free = [(r["shape"], r["size"], r["result"]) for r in results if not r["in memory of"]]
    names: list[str] = []
    unused: list[str] = []
    gained = lost = 0
    for argument in arguments:
        if argument["size"] is None or argument["its memory becomes"]:
            continue
        if argument["donated"]:
            lost, unused = lost + int(argument["size"]), [*unused, argument["argument"]]
            continue
        match = next((r for r in free if r[:2] == (argument["shape"], argument["size"])), None)
        if match and argument["size"]:
            free.remove(match)
            gained, names = gained + int(argument["size"]), [*names, argument["argument"]]
    told = []
    if gained:
        heads = list(dict.fromkeys(re.split(r"[\[.]", name)[0] for name in names))
        told.append(
            _Advice("Not donated", gained, f"Donate {_some(heads)}: results of the same shapes could replace it.")
        )
    if lost:
        told.append(_Advice("Donated in vain", lost, f"No result has the shape of {_some(unused)}."))
    return told


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _padding(memory: Memory) -> list[_Advice]:
    space, found = memory.space(), memory.laid.buffers
    rows = found.at(space.position, space.color)
    waste = found.size[rows] - found.used[rows]
    if not waste.sum():
        return []
    table = memory.peak().rows()
    worst = max(table, key=lambda row: row["padding"])
    how = f"Tiles are filled up; most for {worst['buffer']} {worst['shape']}, {scaled(worst['padding'], 'B')} of "
    how += f"{scaled(worst['size'], 'B')}."
    return [_Advice("Padding", int(waste.sum()), how, worst["line"])]


def _gaps(memory: Memory) -> list[_Advice]:
    space = memory.space()
    return [_Advice("Gaps between buffers", space.reserved - space.peak, "Reserved, but never in use at one time.")]


def _constants(memory: Memory) -> list[_Advice]:
    found = [row for row in memory.constants.rows() if row["in the program"]]
    total = sum(row["size"] for row in found)
    names = [row["constant"].split(", ")[0] for row in found if row["constant"] != "unknown"]
    how = f"Pass {_some(names)} as arguments." if names else "Pass them as arguments."
    return [_Advice("Captured constants", total, how)] if total else []


class _Check(NamedTuple):
    what: str
    ours: int
    xla: int | None
    note: str


def checks(memory: Memory) -> Table:
    """These figures beside XLA's; a note where they differ by more than 1 %."""
    found = [_reserved(memory), _peak(memory)] if memory.stats else []
    columns = {
        "figure": Column([check.what for check in found]),
        "here": Column(np.array([check.ours for check in found], np.int64), "B"),
        "XLA": Column([check.xla for check in found], "B"),
        "note": Column([check.note for check in found]),
    }
    reasons = {(i, "XLA"): "this XLA gives no such figure" for i, check in enumerate(found) if check.xla is None}
    return Table("checks", columns, reasons, () if found else ("XLA gave no figures of its own.",))


def _reserved(memory: Memory) -> _Check:
    space, stats = memory.space(), memory.stats
    ours = space.reserved + (space.local if memory.platform == "tpu" else 0)
    xla = stats.get("total_allocation_bytes")
    if xla is None and memory.platform == "cpu":
        xla = stats.get("peak_memory_in_bytes", 0) + stats.get("temp_size_in_bytes", 0)
    return _Check(
        "reserved", ours, xla, "" if _close(ours, xla) else _differ("reserved", ours, xla, "why is not known")
    )


def _peak(memory: Memory) -> _Check:
    ours, xla = memory.space().peak, memory.stats.get("peak_memory_in_bytes")
    if _close(ours, xla):
        return _Check("peak", ours, xla, "")
    return _Check("peak", ours, xla, _differ("peak", ours, xla, _why(memory, xla or 0)))


def _why(memory: Memory, xla: int) -> str:
    """Why XLA's peak is another: it adds what all memories hold throughout to the largest of its simulations."""
    held = sum(space.held for space in memory.spaces)
    if memory.platform == "cpu" and xla == held:
        return "on CPU XLA's leaves out all temporaries"
    if xla != held + memory.simulated:
        return "why is not known"
    others = [space for space in memory.spaces if space.peak - space.held > memory.space().peak - memory.space().held]
    if others:
        return f"XLA's adds the temporaries of {others[0].name} to what {memory.space().name} holds throughout"
    return "XLA's leaves out temporaries of whose lives it tells nothing"


def _differ(what: str, ours: int, xla: int | None, why: str) -> str:
    return f"XLA's figure for {what} is {scaled(xla or 0, 'B')}, here it is {scaled(ours, 'B')}: {why}."


def _close(ours: int, xla: int | None) -> bool:
    return xla is None or abs(ours - xla) <= CLOSE * max(xla, 1)
