"""Which equation holds the jaxpr that another one stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxstage_ext.core.equation_runs import inner_of


class HoldingEquations:
    """The equations around those of a jaxpr."""

    def __init__(self, jaxpr: Any) -> None:
        self._holder: dict[int, Any] = {}
        """By the id of an equation; None where several equations share its jaxpr."""
        seen: set[int] = set()
        todo = [jaxpr]
        while todo:
            for eqn in todo.pop().eqns:
                for inner in inner_of(eqn):
                    is_shared = id(inner) in seen
                    self._holder.update((id(one), None if is_shared else eqn) for one in inner.eqns)
                    todo.extend([] if is_shared else [inner])
                    seen.add(id(inner))

    def around(self, eqn: Any) -> Iterator[Any]:
        """The equations that hold it, from the inside out, as far as each is the only one."""
        while (eqn := self._holder.get(id(eqn))) is not None:
            yield eqn
