"""Which version of a function JAX runs: the values that it named when it was traced, and which of them have changed.

JAX keeps the jaxpr of a jitted function, of a loop's body or of a rematerialized function, and gives it again whatever
has become of the globals that it read.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs, tracing
from jaxstage_ext.core.staleness.fingerprints import Fingerprint, fingerprint
from jaxstage_ext.core.staleness.named_values import Bound, NamedValues
from jaxstage_ext.core.staleness.retrace import FreshTrace, fresh_trace

ITSELF = "its code"
"""Stands for the function's own code among the names."""


class ChangedName(NamedTuple):
    """A name whose value has changed since a function was traced."""

    name: str
    text: str
    """How Python writes what it was; "" where that is unknown."""
    in_place: bool = False
    """Whether it is the same array with other contents, which JAX reads when it lowers."""


class OldVersion(NamedTuple):
    """A function of which JAX runs an earlier version."""

    function: str
    """Its name."""
    file: str
    """Where it is."""
    changed: tuple[ChangedName, ...]
    """The names whose values have changed; none where only a fresh trace tells that something has."""
    is_of_trace: bool
    """Whether the earlier values are those of the trace; else of the first inspection, after the trace."""


@dataclass(frozen=True)
class _Known:
    jaxpr: weakref.ref[Any]
    names: Mapping[str, Fingerprint]
    is_of_trace: bool


_known: dict[int, _Known] = {}


class VersionCheck:
    """Begun before a trace, and asked after it which functions JAX did not trace anew though what they name changed."""

    functions: Mapping[FunctionType, Bound] = MappingProxyType({})
    """The user's functions that the call may go through, and which of their parameters are known."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], is_jitted: bool) -> None:
        self._call = fn, args, kwargs
        self._is_jitted = is_jitted
        self._bound: Bound = {}
        self._before: Counter[int] = Counter()
        with suppress(Exception):  # objects that fail when they are looked into
            self._bound = _static(fn, args, kwargs) if is_jitted else {}
            self.functions = NamedValues(fn, self._bound).functions
            self._before = tracing.traces_by_function()

    def old_versions(self, traced: Any) -> tuple[OldVersion, ...]:
        """The functions in the trace of which JAX runs an earlier version; values that are seen first are kept."""
        with suppress(Exception):
            return self._old_versions(traced) if traced is not None and self.functions else ()
        return ()

    def _old_versions(self, traced: Any) -> tuple[OldVersion, ...]:
        versions = list(self._versions(traced))
        is_sure = self._is_sure(versions)
        return tuple(old for one in versions if (old := self._old_version(*one, traced, is_sure)) is not None)

    def _old_version(self, function: FunctionType, kept: list[Any], traced: Any, is_sure: bool) -> OldVersion | None:
        """The version of a function that JAX runs, where it is an earlier one. Jaxprs that are new are kept."""
        values = NamedValues(function, self.functions[function]).values
        names, known = _fingerprints(function, values), [_known[id(jaxpr)] for jaxpr in kept if _is_known(jaxpr)]
        for jaxpr in kept:
            if not _is_known(jaxpr):
                _keep(jaxpr, names, is_sure)
        if function is self._jitted() and (compared := self._fresh(traced, values)) is not None:
            changed = _of_literals(compared.literals, values) + _of_arrays(compared.arrays, values)
            if changed or not compared.is_same:
                return _old(function, changed, is_of_trace=True)
            if self._is_sure([one for one in self._versions(traced) if one[0] is not function]):
                _keep(traced.jaxpr.jaxpr, names, is_of_trace=True)
                return None
        of_known = ((changed, one.is_of_trace) for one in known if (changed := _changed(one.names, names)))
        return next((_old(function, changed, is_of_trace) for changed, is_of_trace in of_known), None)

    def _fresh(self, traced: Any, values: Mapping[str, Any]) -> FreshTrace | None:
        """A fresh trace, where nobody knows what the one that JAX kept has read, and it can have changed."""
        known = _known[id(traced.jaxpr.jaxpr)]
        if known.is_of_trace or all(isinstance(value, FunctionType) for value in values.values()):
            return None
        return fresh_trace(*self._call, traced)

    def _is_sure(self, versions: Iterable[tuple[FunctionType, list[Any]]]) -> bool:
        """Whether of all these jaxprs it is known what was read for them: each was traced now, or under inspection."""
        traces = tracing.traces_by_function()
        for function, jaxprs_kept in versions:
            new = [jaxpr for jaxpr in jaxprs_kept if not _is_known(jaxpr)]
            kept = all(_known[id(jaxpr)].is_of_trace for jaxpr in jaxprs_kept if _is_known(jaxpr))
            if not kept or (new and not self._is_traced(function, len(new), traces)):
                return False
        return True

    def _is_traced(self, function: FunctionType, new: int, traces: Counter[int]) -> bool:
        """Whether the new jaxprs of a function are surely of this trace, not of one that JAX kept from before."""
        made = traces - self._before
        if function is self._jitted():
            return bool(made)
        return made[id(function)] >= (new if self._before[id(function)] else 1)

    def _jitted(self) -> FunctionType | None:
        """The function that was jitted, without wrappers; None where the call is of a plain function."""
        return next(iter(self.functions), None) if self._is_jitted else None

    def _versions(self, traced: Any) -> Iterator[tuple[FunctionType, list[Any]]]:
        """The user's functions whose jaxpr JAX may have kept, each with its jaxprs."""
        outer = traced.jaxpr.jaxpr
        sources: dict[str, list[Any]] = {}
        for jaxpr in jaxprs.inner_kept_jaxprs(outer):
            sources.setdefault(jaxprs.source_of(jaxpr), []).append(jaxpr)
        if (jitted := self._jitted()) is not None:
            sources.setdefault(_source(jitted), []).append(outer)
        for function in self.functions:
            if kept := sources.pop(_source(function), None):
                yield function, kept


def _source(function: FunctionType) -> str:
    """As JAX writes where a function is."""
    code = function.__code__
    return f"{function.__name__} at {code.co_filename}:{code.co_firstlineno}"


def _static(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
    """The static arguments of a call of a jitted function, by parameter."""
    numbers, names = tracing.static_arguments(fn)
    inner = getattr(fn, "__wrapped__", None)
    if not isinstance(inner, FunctionType):
        return {}
    parameters = inner.__code__.co_varnames[: inner.__code__.co_argcount]
    given = dict(zip(parameters, args, strict=False)) | dict(kwargs)
    static = {*names, *(parameters[number] for number in numbers if -len(parameters) <= number < len(parameters))}
    return {name: (name, given[name]) for name in given if name in static}


def _old(function: FunctionType, changed: tuple[ChangedName, ...], is_of_trace: bool) -> OldVersion:
    return OldVersion(function.__name__, function.__code__.co_filename, changed, is_of_trace)


def _of_literals(literals: Iterable[tuple[str, str]], values: Mapping[str, Any]) -> tuple[ChangedName, ...]:
    """The names whose value is the number that a fresh trace has in place of another, where only one name has it."""
    found = []
    for kept, fresh in literals:
        named = [name for name, value in values.items() if type(value) in (int, float, bool) and _is(value, fresh)]
        if len(named) == 1:
            is_integer = type(values[named[0]]) is int and float(kept).is_integer()
            found.append(ChangedName(named[0], str(int(float(kept))) if is_integer else kept))
    return tuple(found)


def _of_arrays(arrays: Iterable[Any], values: Mapping[str, Any]) -> tuple[ChangedName, ...]:
    """The names of arrays that took the place of others; an array without a name was made by the trace itself."""
    return tuple(ChangedName(name, "") for name, value in values.items() if any(value is array for array in arrays))


def _is(value: float, written: str) -> bool:
    """Whether JAX writes a number so, in whichever precision."""
    with suppress(ValueError, OverflowError):
        return float(written) in (float(value), float(str(np.float32(value))))
    return False


def _fingerprints(function: FunctionType, values: Mapping[str, Any]) -> dict[str, Fingerprint]:
    made = {ITSELF: fingerprint(function)} | {name: fingerprint(value) for name, value in values.items()}
    return {name: known for name, known in made.items() if known is not None}


def _is_known(jaxpr: Any) -> bool:
    known = _known.get(id(jaxpr))
    return known is not None and known.jaxpr() is jaxpr


def _keep(jaxpr: Any, names: Mapping[str, Fingerprint], is_of_trace: bool) -> None:
    number = id(jaxpr)

    def forget(ref: weakref.ref[Any]) -> None:
        if (known := _known.get(number)) is not None and known.jaxpr is ref:
            del _known[number]

    _known[number] = _Known(weakref.ref(jaxpr, forget), names, is_of_trace)


def _changed(then: Mapping[str, Fingerprint], now: Mapping[str, Fingerprint]) -> tuple[ChangedName, ...]:
    return tuple(
        ChangedName(name, known.text, name in now and known.is_in_place(now[name]))
        for name, known in then.items()
        if name not in now or not known.equals(now[name])
    )
