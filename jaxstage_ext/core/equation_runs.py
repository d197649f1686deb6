"""How often the equations of a jaxpr run in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs

Runs = tuple[int, str]
"""How often, and "" or, where that is not known before the run, why."""
_WHILE = "in a while loop"
_BRANCH = "in a branch of cond"


def equation_runs(jaxpr: Any, hidden: frozenset[str] = frozenset()) -> Iterator[tuple[Any, Runs]]:
    """Each equation with its runs, also those of the jaxprs that others hold, but for those of the primitives `hidden`.

    A jaxpr that several equations share is gone through once: its equations run as often as all of those do.
    """
    order = _outer_first(jaxpr, hidden)
    runs: dict[int, Runs] = {id(jaxpr): (1, "")}
    for current in order:
        times, why = runs[id(current)]
        for eqn in current.eqns:
            yield eqn, (times, why)
        for eqn, held in jaxprs.holders(current):
            if eqn.primitive.name in hidden:
                continue
            factor, unknown = _of_inside(eqn)
            for inner in held:
                before, known = runs.get(id(inner), (0, ""))
                runs[id(inner)] = before + times * factor, known or why or unknown


def _of_inside(eqn: Any) -> Runs:
    if eqn.primitive.name == "scan":
        return int(eqn.params["length"]), ""
    return 1, {"while": _WHILE, "cond": _BRANCH}.get(eqn.primitive.name, "")


def inner_of(eqn: Any, hidden: frozenset[str] = frozenset()) -> list[Any]:
    """The jaxprs that an equation holds; none of the primitives `hidden`."""
    if eqn.primitive.name in hidden:
        return []
    return jaxprs.inner_jaxprs(eqn)


def _outer_first(jaxpr: Any, hidden: frozenset[str]) -> list[Any]:
    """The jaxprs inside, each after all that hold it."""
    done: list[Any] = []
    seen: set[int] = set()
    todo: list[tuple[Any, bool]] = [(jaxpr, False)]
    while todo:
        current, is_left = todo.pop()
        if is_left:
            done.append(current)
        elif id(current) not in seen:
            seen.add(id(current))
            todo.append((current, True))
            inside = (held for eqn, held in jaxprs.holders(current) if eqn.primitive.name not in hidden)
            todo.extend((inner, False) for held in inside for inner in held)
    return done[::-1]
