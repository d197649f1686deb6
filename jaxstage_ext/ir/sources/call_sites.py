"""Whole call stacks: the frames of an operation in a called computation, below those of the operation that calls it.

JAX keeps of each operation the frames up to the function that was traced: of an operation in the body of a `while_loop`
or of a jitted function, not the frames that called it. XLA joins them when it inlines calls; here it is done for the
documents before that.
"""

from __future__ import annotations

from collections.abc import Collection

from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.frames import Ints

Held = tuple[Longs, Longs]
"""(operations, callers): each operation is in a computation that the caller at the same place calls."""


def joined(frame: Ints, held: Held, table: FrameTable, borrowed: Collection[int] = ()) -> Ints:
    """Per operation its frame, below those that all its callers have in common; of borrowed ones the latter alone."""
    callers: dict[int, set[int]] = {}
    for operation, caller in zip(held[0].tolist(), held[1].tolist(), strict=True):
        callers.setdefault(operation, set()).add(caller)
    own = frame.copy()
    own[list(borrowed)] = -1
    sites, result = _Sites(own.tolist(), callers, table), own.copy()
    for operation in callers:
        result[operation] = sites.caller(operation) if operation in borrowed else sites.frame(operation)
    return result


class _Sites:
    """Resolves operations, each once and after its callers."""

    def __init__(self, own: list[int], callers: dict[int, set[int]], table: FrameTable) -> None:
        self._own, self._callers, self._table = own, callers, table
        self._outside: dict[int, int] = {}

    def frame(self, operation: int) -> int:
        """The operation's own frame, below that of its callers."""
        own = self._own[operation]
        if own < 0:
            return own
        outside = self.caller(operation)
        return own if outside < 0 else self._table.below(own, outside)

    def caller(self, operation: int) -> int:
        """The innermost frame that the stacks of all callers have in common, -1 for none.

        A caller without frames stands for its own callers.
        """
        if operation not in self._outside:
            self._outside[operation] = -1
            frames = {self._site(caller) for caller in self._callers.get(operation, ())}
            self._outside[operation] = self._table.common(frames)
        return self._outside[operation]

    def _site(self, caller: int) -> int:
        return self.caller(caller) if self._own[caller] < 0 else self.frame(caller)
