"""Which later values carry the dtype of a promotion: what is computed from it in that dtype, up to the next conversion.

A value that several promotions reach belongs to the first, in program order. A conversion that JAX inserts to match an
operand that one has reached belongs to that one too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Reached = dict[Any, int]
"""Variables, and the equation (its id) of the promotion that each carries the dtype of."""


@dataclass
class Infected:
    """What one promotion reaches."""

    values: int = 0
    bytes: int = 0
    """Of these values, each once."""
    because: int | None = None
    """The equation (its id) of the promotion that it was inserted for; None where it is a beginning itself."""


@dataclass
class Infections:
    """Follows promotions through a jaxpr and those inside it.

    Attributes:
      is_promotion: whether an equation makes its operand's dtype larger.
      place: where in the source an equation is: JAX inserts a conversion at the place of what it is for.
      found: by the promoting equation (its id), what it reaches.
    """

    is_promotion: Callable[[Any], bool]
    place: Callable[[Any], int]
    found: dict[int, Infected] = field(default_factory=dict)

    def follow(self, jaxpr: Any, given: Sequence[int | None], records: bool = True) -> list[int | None]:
        """Go through a jaxpr whose arguments carry these; gives what its results carry."""
        reached: Reached = {var: at for var, at in zip(jaxpr.invars, given, strict=True) if at is not None}
        users: dict[Any, list[Any]] = {}
        for eqn in jaxpr.eqns:
            for var in _variables(eqn.invars):
                users.setdefault(var, []).append(eqn)
        for eqn in jaxpr.eqns:
            self._through(eqn, reached, users, records)
        return [_at(reached, atom) for atom in jaxpr.outvars]

    def _through(self, eqn: Any, reached: Reached, users: Mapping[Any, list[Any]], records: bool) -> None:
        if self.is_promotion(eqn):
            own = self._inserted_for(eqn, reached, users)
            if records:
                self.found.setdefault(id(eqn), Infected()).because = own
            reached[eqn.outvars[0]] = id(eqn) if own is None else own
            return
        carried = [_at(reached, atom) for atom in eqn.invars]
        if (inner := self._inside(eqn, carried, records)) is not None:
            reached.update({var: at for var, at in zip(eqn.outvars, inner, strict=True) if at is not None})
            return
        for var in eqn.outvars:
            dtype: Any = getattr(var.aval, "dtype", None)
            sources = [
                at
                for atom, at in zip(eqn.invars, carried, strict=True)
                if at is not None and getattr(atom.aval, "dtype", None) == dtype
            ]
            if not sources:
                continue
            reached[var] = sources[0]
            if records:
                infected = self.found.setdefault(sources[0], Infected())
                infected.values += 1
                infected.bytes += math.prod(var.aval.shape) * dtype.itemsize

    def _inserted_for(self, eqn: Any, reached: Reached, users: Mapping[Any, list[Any]]) -> int | None:
        """The promotion for whose values JAX inserted a conversion; None where the program asks for it."""
        out = eqn.outvars[0]
        others = [
            [_at(reached, atom) for atom in _variables(user.invars) if atom is not out and _dtype(atom) == _dtype(out)]
            for user in users.get(out, ())
            if self.place(user) == self.place(eqn)
        ]
        if not others or len(others) < len(users.get(out, ())):
            return None
        first = [next((at for at in each if at is not None), None) for each in others]
        return first[0] if all(at is not None for at in first) else None

    def _inside(self, eqn: Any, carried: list[int | None], records: bool) -> list[int | None] | None:
        """What the results of an equation carry that runs jaxprs on its operands; None for any other."""
        name, params = eqn.primitive.name, eqn.params
        if name == "scan":
            body = _open(params["jaxpr"])
            carry = sum(_rank(out) == _rank(var) for out, var in zip(eqn.outvars, body.outvars, strict=True))
            over = sum(_rank(given) != _rank(var) for given, var in zip(eqn.invars, body.invars, strict=True))
            consts = len(carried) - carry - over
            return self._loop(body, carried[:consts], carried[consts:], carry, records)
        if name == "while":
            first = params["cond_nconsts"]
            consts = first + params["body_nconsts"]
            state = carried[consts:]
            return self._loop(_open(params["body_jaxpr"]), carried[first:consts], state, len(state), records)
        if name == "cond":
            branches = [self.follow(_open(each), carried[1:], records) for each in params["branches"]]
            return [next((at for at in each if at is not None), None) for each in zip(*branches, strict=True)]
        bodies = [body for body in _jaxprs(eqn) if len(body.invars) == len(carried)]
        whole = [body for body in bodies if len(body.outvars) == len(eqn.outvars)]
        return self.follow(whole[0], carried, records) if len(whole) == 1 else None

    def _loop(
        self, body: Any, consts: list[int | None], rest: list[int | None], carry: int, records: bool
    ) -> list[int | None]:
        """A body whose first `carry` results are its arguments after `consts` in the next iteration."""
        once = self.follow(body, [*consts, *rest], records=False)
        again = [before if before is not None else after for before, after in zip(rest, once[:carry], strict=False)]
        return self.follow(body, [*consts, *again, *rest[len(again) :]], records)


def _jaxprs(eqn: Any) -> list[Any]:
    return [part for part in map(_open, eqn.params.values()) if hasattr(part, "eqns")]


def _open(jaxpr: Any) -> Any:
    return getattr(jaxpr, "jaxpr", jaxpr)


def _rank(atom: Any) -> int:
    return len(atom.aval.shape)


def _variables(atoms: Sequence[Any]) -> list[Any]:
    return [atom for atom in atoms if not hasattr(atom, "val")]


def _dtype(atom: Any) -> Any:
    return getattr(atom.aval, "dtype", None)


def _at(reached: Reached, atom: Any) -> int | None:
    return None if hasattr(atom, "val") else reached.get(atom)
