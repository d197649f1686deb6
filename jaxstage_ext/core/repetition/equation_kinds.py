"""Numbers for the equations of a jaxpr that are alike: two with one number differ in their operands at most."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.report.numbering import Numbering

_OWN_DERIVATIVES = ("custom_jvp_call", "custom_vjp_call")
"""Their derivative rules are functions made at each call; what the equation computes is in its jaxpr."""
_OWN_START = {"slice": ("start_indices", "limit_indices")}
"""Parameters that say where a value is read, as an operand could: the result's shape tells the rest."""


class EquationKinds:
    """Equal numbers: the same primitive and parameters, and operands and results of the same types.

    Jaxprs that an equation holds are compared by what they compute, not by which they are.
    """

    def __init__(self) -> None:
        self._kinds = Numbering[Hashable]()
        self._jaxprs = Numbering[Hashable]()
        self._of_jaxpr: dict[int, int] = {}

    def kind(self, eqn: Any) -> int:
        """The number of an equation's kind."""
        return self._kinds[self._key(eqn)]

    def _key(self, eqn: Any) -> Hashable:
        name = eqn.primitive.name
        rules, starts = name.startswith(_OWN_DERIVATIVES), _OWN_START.get(name, ())
        params = [
            (key, self._value(value))
            for key, value in sorted(eqn.params.items())
            if key not in starts and not (rules and callable(value))
        ]
        types = [tuple(_kept(atom.aval) for atom in atoms) for atoms in (eqn.invars, eqn.outvars)]
        literals = tuple(jaxprs.is_literal(atom) for atom in eqn.invars)
        return id(eqn.primitive), tuple(params), *types, literals

    def _value(self, value: Any) -> Hashable:
        if jaxprs.is_jaxpr(value):
            return "jaxpr", self._jaxpr(value)
        if type(value) in (tuple, list):
            return tuple(self._value(each) for each in value)
        if type(value) is dict:
            return tuple((key, self._value(each)) for key, each in value.items())
        return _kept(value)

    def _jaxpr(self, closed: Any) -> int:
        if id(closed) not in self._of_jaxpr:
            jaxpr = getattr(closed, "jaxpr", closed)
            number: dict[Any, int] = {}
            for var in (*jaxpr.invars, *jaxpr.constvars):
                number[var] = len(number)
            rows: list[Hashable] = [tuple(_kept(var.aval) for var in (*jaxpr.invars, *jaxpr.constvars))]
            for eqn in jaxpr.eqns:
                rows.append((self.kind(eqn), *map(self._value, starts(eqn)), *(_atom(a, number) for a in eqn.invars)))
                for var in eqn.outvars:
                    number[var] = len(number)
            rows.append(tuple(_atom(a, number) for a in jaxpr.outvars))
            rows.append(tuple(map(_kept, getattr(closed, "consts", ()))))
            self._of_jaxpr[id(closed)] = self._jaxprs[tuple(rows)]
        return self._of_jaxpr[id(closed)]


def operand(atom: Any) -> Hashable:
    """What tells a literal from another of its type."""
    return _kept(atom.val)


def starts(eqn: Any) -> list[Any]:
    """The parameters that say where an equation reads, in which equations of one kind may differ."""
    return [eqn.params[key] for key in _OWN_START.get(eqn.primitive.name, ())]


def _atom(atom: Any, number: dict[Any, int]) -> Hashable:
    return ("literal", operand(atom)) if jaxprs.is_literal(atom) else number.get(atom, -1)


def _kept(value: Any) -> Hashable:
    """What a value equals where it says so; an array by its contents; else the object itself."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    try:
        hash(value)
    except Exception:
        return id(value)
    return type(value), value
