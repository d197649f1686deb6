"""What each parameter of a call was given, and the types that JAX saw of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.inputs import pytree_paths
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.program.program import Program

_PLAIN = (bool, int, float, complex)


@dataclass(frozen=True)
class SeenType:
    """The type of an array that JAX traced; `is_weak` where it came from a Python scalar. `dtype` is NumPy's name."""

    shape: tuple[int, ...]
    dtype: Any
    is_weak: bool = False


@dataclass(frozen=True)
class CallArgument:
    """A parameter of a call."""

    name: str
    value: Any
    """What it was given: an array, a pytree of arrays, or any value."""
    types: tuple[SeenType, ...]
    """Of its arrays, as JAX traced them; empty for a constant of the program: a static argument, a default, None."""

    @property
    def is_constant(self) -> bool:
        return not self.types


@dataclass(frozen=True)
class Narrowed:
    """An array that JAX traced with another dtype than it was given with; dtypes are NumPy's names."""

    name: str
    given: str
    seen: str


def call_arguments(program: Program) -> list[CallArgument]:
    """The parameters of a call in their order, those that were left out with their defaults, but for None."""
    placed = _placed(program)
    seen = _seen(program, [key for _, key, _ in placed if key is not None])
    return [CallArgument(name, value, seen.get(key, ()) if key is not None else ()) for name, key, value in placed]


def deleted(program: Program) -> list[str]:
    """The arrays whose memory is gone, as donation to an earlier call leaves them."""
    paths = [
        (argument.name, path, leaf)
        for argument in call_arguments(program)
        if _has_deleted(pytree_paths.leaves(argument.value))
        for path, leaf in leaves_with_paths(argument.value)
    ]
    return [name + path_text(path) for name, path, leaf in paths if _is_deleted(leaf)]


def _has_deleted(leaves: list[Any]) -> bool:
    """Whether any is deleted; of a million numbers their one class is asked."""
    return any(issubclass(kind, jax.Array) for kind in set(map(type, leaves))) and any(map(_is_deleted, leaves))


def _is_deleted(leaf: Any) -> bool:
    return issubclass(type(leaf), jax.Array) and not isinstance(leaf, jax.core.Tracer) and leaf.is_deleted()


def narrowed(program: Program) -> list[Narrowed]:
    """The arrays whose dtype JAX changed when it took them, as it does to 64 bits where x64 is not enabled."""
    found: list[Narrowed] = []
    for argument in call_arguments(program):
        if argument.is_constant:
            continue
        leaves = leaves_with_paths(argument.value)
        leaves = [(path, leaf) for path, leaf in leaves if _is_array(leaf) or len(leaves) == len(argument.types)]
        for (path, leaf), seen in zip(leaves, argument.types, strict=False):
            given = getattr(leaf, "dtype", None)
            if isinstance(given, np.dtype) and _halves(given, seen.dtype):
                found.append(Narrowed(argument.name + path_text(path), str(given), str(seen.dtype)))
    return found


_Key = int | str
_ROOT = re.compile(r"args\[\d+\]|kwargs\['\w+'\]|\w+")
"""The parameter in the path of an array."""


def _placed(program: Program) -> list[tuple[str, _Key | None, Any]]:
    """(name, place among the positional arguments or keyword, value); no place for a default."""
    call = program.call
    if call.given is not None:
        return _of_given(call, call.given.info.arguments)
    try:
        signature = signature_of(call.fn)
        signature.bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        positional: list[tuple[str, _Key | None, Any]] = [(str(i), i, value) for i, value in enumerate(call.args)]
        return [*positional, *((name, name, value) for name, value in call.kwargs.items())]
    placed: list[tuple[str, _Key | None, Any]] = []
    given = iter(enumerate(call.args))
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed += [(f"{name}[{i}]", at, value) for i, (at, value) in enumerate(given)]
        elif parameter.kind is parameter.VAR_KEYWORD:
            placed += [(key, key, value) for key, value in call.kwargs.items() if key not in signature.parameters]
        elif parameter.kind is not parameter.KEYWORD_ONLY and (following := next(given, None)) is not None:
            placed.append((name, *following))
        elif name in call.kwargs:
            placed.append((name, name, call.kwargs[name]))
        elif parameter.default is not None:
            placed.append((name, None, parameter.default))
    return placed


def _of_given(call: Call, paths: Sequence[str]) -> list[tuple[str, _Key | None, Any]]:
    """By the paths that JAX keeps of the arrays: "w" of "w['k']"; by place or keyword where it keeps none."""
    keys: list[_Key] = [*range(len(call.args)), *sorted(call.kwargs)]
    values = [*call.args, *(call.kwargs[key] for key in sorted(call.kwargs))]
    counts = [len(pytree_paths.leaves(value)) for value in values]
    known, at = sum(counts) == len(paths), 0
    placed: list[tuple[str, _Key | None, Any]] = []
    for key, value, count in zip(keys, values, counts, strict=True):
        name = _ROOT.match(paths[at]) if known and count else None
        placed.append((name[0] if name else str(key), key, value))
        at += count
    return placed


def _seen(program: Program, keys: list[_Key]) -> dict[_Key, tuple[SeenType, ...]]:
    """The types of the arrays of each argument, none for one that is static."""
    call = program.call
    static = _static(program)
    dynamic = {key: call.args[key] if isinstance(key, int) else call.kwargs[key] for key in keys if key not in static}
    traced = program.jax_traced
    avals = list(traced.jaxpr.in_avals) if traced is not None else list(call.given.info.avals) if call.given else []
    for leaves_of in (pytree_paths.leaves, _arrays):
        leaves = {key: leaves_of(value) for key, value in dynamic.items()}
        if avals and sum(map(len, leaves.values())) == len(avals):
            rest = iter(avals)
            return {key: tuple(seen_type(next(rest)) for _ in leaves[key]) for key in sorted(leaves, key=_flattened)}
    return {key: tuple(map(_guessed, _arrays(value))) for key, value in dynamic.items()}


def _flattened(key: _Key) -> tuple[bool, int, str]:
    """Sorts arguments as JAX flattens them: by place, then by keyword."""
    return (False, key, "") if isinstance(key, int) else (True, 0, key)


def _static(program: Program) -> set[_Key]:
    """The arguments that `jax.jit` treats as static, by place or keyword."""
    function = program.staged.function
    numbers, names = tracing.static_arguments(program.call.fn if function is None else function)
    count = len(program.call.args)
    return {*(number % count for number in numbers if -count <= number < count), *names}


def _arrays(value: Any) -> list[Any]:
    return [leaf for leaf in pytree_paths.leaves(value) if _is_array(leaf)]


def _is_array(leaf: Any) -> bool:
    """Whether a leaf has the shape and dtype of an array, its own code permitting."""
    try:
        return isinstance(leaf.shape, tuple) and hasattr(leaf, "dtype")
    except Exception:
        return False


def seen_type(aval: Any) -> SeenType:
    """The type of an array, or of a token, which has neither shape nor dtype."""
    shape, dtype = tuple(getattr(aval, "shape", ())), getattr(aval, "dtype", type(aval).__name__)
    return SeenType(shape, dtype, bool(getattr(aval, "weak_type", False)))


def _guessed(leaf: Any) -> SeenType:
    """The type that JAX gives an array where the trace does not say it."""
    dtype = jax.dtypes.canonicalize_dtype(leaf.dtype) if isinstance(leaf.dtype, np.dtype) else leaf.dtype
    return SeenType(tuple(leaf.shape), dtype)


def _halves(given: Any, seen: Any) -> bool:
    """Whether JAX takes a dtype of 64-bit parts as one of 32 bits."""
    return isinstance(seen, np.dtype) and given.kind == seen.kind and given.itemsize == 2 * seen.itemsize >= 8
