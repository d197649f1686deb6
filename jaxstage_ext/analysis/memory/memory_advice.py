"""What could be changed so that a program takes less memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.memory import contents
from jaxstage_ext.analysis.memory.buffers import Kind, ScheduledBuffers
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, KeptConstant, ResultMemory
from jaxstage_ext.analysis.memory.spaces import Space
from jaxstage_ext.ir.wire.protowire import Longs

WORTH = 0.01
"""Share of the reserved bytes below which no advice is given."""


class Suggestion(Enum):
    """What takes memory that a change could save."""

    RESIDUALS = "residuals"
    NOT_DONATED = "not donated"
    DONATION_UNUSED = "donation unused"
    DONATION_TAKEN = "donation unused, as other donated arguments give the memory of the results"
    DONATION_LEFT = "donation unused, though a result could reuse the memory"
    PADDING = "padding"
    GAPS = "gaps"
    CONSTANTS = "constants"


class Part(NamedTuple):
    """The largest contributor: its bytes, those of the whole buffer, and the value (row of the assignment) in it."""

    bytes: int
    whole: int = 0
    value: int = -1


_MOST_ASKED = 3
_PARAMETER = re.compile(r"[^\[.]*")


class MemoryAdvice(NamedTuple):
    """One suggestion."""

    kind: Suggestion
    bytes: int
    """What it concerns, which may be more or less than what a change saves."""
    names: tuple[str, ...] = ()
    """Arguments or constants to change."""
    line: str = ""
    """Source line of the largest contributor, "" unknown."""
    largest: Part | None = None
    others: tuple[str, ...] = ()
    """Arguments whose memory the results reuse instead."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The names as `with_donation` takes them: of many leaves, the parameters that they are in."""
        if len(self.names) <= _MOST_ASKED:
            return self.names
        return tuple(dict.fromkeys(_PARAMETER.match(name)[0] for name in self.names))  # type: ignore[index]


def worth_giving(advice: Sequence[MemoryAdvice], space: Space) -> list[MemoryAdvice]:
    """The suggestions that concern a fair share of the memory, the largest first."""
    least = max(WORTH * space.reserved, 1)
    return sorted((item for item in advice if item.bytes >= least), key=lambda item: -item.bytes)


LinesOf = Callable[[Longs, int | None], tuple[list[str], Longs]]
"""The source line and the row of the HLO document that each buffer belongs to, at a position of the schedule."""


def residuals(scheduled: ScheduledBuffers, lines_of: LinesOf, space: Space) -> list[MemoryAdvice]:
    """What is kept for the backward pass and live at the peak."""
    buffers = scheduled.buffers
    live = buffers.at(space.position, space.color)
    live = live[buffers.kind[live] == Kind.RESIDUAL]
    if not len(live):
        return []
    by_line: dict[str, int] = {}
    for line, size in zip(lines_of(live, space.position)[0], buffers.size[live].tolist(), strict=True):
        by_line[line] = by_line.get(line, 0) + size
    line, most = max(by_line.items(), key=lambda item: item[1])
    return [MemoryAdvice(Suggestion.RESIDUALS, int(buffers.size[live].sum()), (), line, Part(most))]


def donation(arguments: Sequence[ArgumentMemory], results: Sequence[ResultMemory]) -> list[MemoryAdvice]:
    """Arguments that a result of the same shape could replace, and donations that XLA did not use."""
    free = [type_of(result) for result in results if result.in_memory_of is None]
    missed: list[ArgumentMemory] = []
    unused: dict[Suggestion, list[ArgumentMemory]] = {}
    givers: dict[str, None] = {}
    for argument in arguments:
        if argument.size is None or argument.becomes:
            continue
        if argument.donated:
            alike = [result.in_memory_of for result in results if type_of(result) == type_of(argument)]
            unused.setdefault(_why_unused(alike), []).append(argument)
            givers |= dict.fromkeys(name for name in alike if name is not None)
        elif argument.size and type_of(argument) in free:
            free.remove(type_of(argument))
            missed.append(argument)
    names = _donatable(missed, arguments)
    advice = [MemoryAdvice(Suggestion.NOT_DONATED, _total(missed), names)] if missed else []
    for why, some in unused.items():
        others = tuple(givers) if why is Suggestion.DONATION_TAKEN else ()
        advice.append(MemoryAdvice(why, _total(some), tuple(argument.name for argument in some), others=others))
    return [item for item in advice if item.bytes]


def _donatable(missed: Sequence[ArgumentMemory], arguments: Sequence[ArgumentMemory]) -> tuple[str, ...]:
    """The function's parameters of which all is missed; of the others, the paths: JAX donates whole ones."""
    own = {argument.name for argument in missed}
    partly = {parameter(argument.name) for argument in arguments if argument.size and argument.name not in own}
    roots = [parameter(argument.name) for argument in missed]
    return tuple(
        dict.fromkeys(argument.name if root in partly else root for root, argument in zip(roots, missed, strict=True))
    )


def type_of(value: ArgumentMemory | ResultMemory) -> tuple[str, int, int]:
    """What has to be equal for one to reuse the memory of the other."""
    return value.shape, value.size or 0, value.space


def _why_unused(givers: Sequence[str | None]) -> Suggestion:
    """Why a donation is unused; `givers` are the arguments whose memory the results of its shape reuse."""
    if not givers:
        return Suggestion.DONATION_UNUSED
    return Suggestion.DONATION_TAKEN if all(giver is not None for giver in givers) else Suggestion.DONATION_LEFT


def concerns(path: str, name: str) -> bool:
    """Whether a path of JAX's is that of a parameter or of a part of it, such as `params['w'].kernel` of `params`."""
    return path == name or (path.startswith(name) and path[len(name)] in "[.")


def parameter(path: str) -> str:
    """The function's parameter in a path of JAX's, such as `params` in `params['w'].kernel`."""
    return re.split(r"[\[.]", path)[0]


def _total(arguments: Sequence[ArgumentMemory]) -> int:
    return sum(argument.size or 0 for argument in arguments)


def padding(scheduled: ScheduledBuffers, lines_of: LinesOf, space: Space) -> list[MemoryAdvice]:
    """What tiled layouts waste at the peak."""
    buffers = scheduled.buffers
    live = buffers.at(space.position, space.color)
    waste = buffers.size[live] - buffers.used[live]
    if not waste.sum():
        return []
    worst = int(np.argmax(waste))
    [value] = contents.values(scheduled, live[[worst]], space.position).tolist()
    [line], _ = lines_of(live[[worst]], space.position)
    largest = Part(int(waste[worst]), int(buffers.size[live[worst]]), value)
    return [MemoryAdvice(Suggestion.PADDING, int(waste.sum()), (), line, largest)]


def gaps(space: Space) -> list[MemoryAdvice]:
    """What is reserved and not live at the peak."""
    return [MemoryAdvice(Suggestion.GAPS, space.reserved - space.peak)]


def constants(captured: Sequence[KeptConstant]) -> list[MemoryAdvice]:
    """Captured arrays that XLA put into the program."""
    inside = [constant for constant in captured if constant.in_program]
    total = sum(constant.size for constant in inside)
    names = tuple(constant.names[0] for constant in inside if constant.names)
    return [MemoryAdvice(Suggestion.CONSTANTS, total, names)] if total else []
