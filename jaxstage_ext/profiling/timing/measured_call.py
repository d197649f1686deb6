"""A call that is run over and over: jitted unless it is staged, with fresh arguments where it donates them."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.stage.stageable import call_name, unwrap
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.bounded_repr import bounded_repr, type_name
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import with_article

_JITTED = (
    "{title} is not jitted, so it was jitted to be measured, and its arguments are traced. Where one must be a Python "
    "value, measure jax.jit({title}, static_argnums=...); Python that JAX cannot trace is timed by {profile}."
)


class Arguments(NamedTuple):
    """Positional and keyword arguments, for a `setup` that makes both."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class RefusedMeasurement(DeliberateError, ValueError):
    """A call that cannot be measured as it was asked for; the message is one line."""


class NotTraceable(RefusedMeasurement, TypeError):
    """A function that was jitted to be measured does what JAX cannot trace; the message is one line."""


class DonatedArguments(RefusedMeasurement):
    """A function donates arguments, so that it cannot be run twice with the same ones; the message is one line."""


@dataclass
class MeasuredCall:
    """A staged function with its arguments. `outputs` are those of the last run that ended.

    `is_jitted_here` says that the user's function was not staged, and `function` is its jitted form.
    """

    function: Callable[..., Any]
    title: str
    given: Arguments
    setup: Callable[[], Any] | None = None
    outputs: Any = None
    is_jitted_here: bool = False
    _next: Arguments = field(default=Arguments((), {}), repr=False)

    def prepare(self) -> None:
        """Make the arguments of the next run and wait until they are ready."""
        self._next = self.given if self.setup is None else _arguments(self.setup(), self.given.kwargs)
        _wait((self._next.args, dict(self._next.kwargs)))

    def run(self) -> None:
        """Run once, until the outputs are ready."""
        self.outputs = _wait(self.function(*self._next.args, **self._next.kwargs))

    def first_run(self) -> None:
        """Run with what `prepare` made; on copies where the function may donate it, so that the user's arrays stay.

        Raises DonatedArguments where a second run is impossible without `setup`, NotTraceable where jitting failed.
        """
        if self.setup is None and self._may_donate():
            self._next = Arguments(
                *jax.tree.map(_copied, (self._next.args, dict(self._next.kwargs)), is_leaf=_is_iterator)
            )
        try:
            self.run()
        except TypeError as error:
            if self.is_jitted_here:
                first = (str(error).splitlines() or [type(error).__name__])[0]
                jitted = _JITTED.format(title=self.title, profile=typed("%%profile", "jaxstage_ext.profile"))
                raise NotTraceable(f"{jitted} JAX says: {first}") from error
            raise
        if self.setup is None and (paths := _deleted(self._next)):
            raise DonatedArguments(
                f"{self.title} donates {', '.join(paths)}, so it runs only once with the same arrays; give setup, a "
                "function that makes fresh arguments for every run and is not timed, such as "
                "setup=lambda: (jax.tree.map(jnp.copy, state), batch)"
            )

    def _may_donate(self) -> bool:
        """Whether an argument is marked as donated; True where the function does not say."""
        args, kwargs = self._next
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = self.function
                if not isinstance(function, jax.stages.Compiled):
                    function = unwrap((getattr(function, "trace", None) or function.lower)(*args, **kwargs))  # type: ignore[attr-defined]
                return any(info.donated for info in jax.tree.leaves(function.args_info))
        except Exception:  # what is wrong with the call shows when it runs
            return True


def measured_call(
    function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], setup: Callable[[], Any] | None, title: str = ""
) -> MeasuredCall:
    """The call to measure, jitted unless it is staged or has no array to be jitted for.

    Raises TypeError for what cannot be called, ValueError for arrays that are deleted.
    """
    title = title or call_name(Call(function, args, kwargs))
    if not callable(function):
        kind = with_article(type_name(function))
        raise TypeError(f"{bounded_repr(function)} is {kind}, not a function: there is nothing to measure")
    if setup is not None and not callable(setup):
        raise TypeError(f"setup must be a function that makes the arguments, not {with_article(type_name(setup))}")
    given = Arguments(args, dict(kwargs))
    if setup is None and (paths := _deleted(given)):
        raise RefusedMeasurement(f"deleted, as donation does: {', '.join(paths)}; measure with arrays that are there")
    if is_staged(function):
        return MeasuredCall(function, title, given, setup)
    if setup is None and not arrays_of(tuple(given)):
        return MeasuredCall(function, f"{title} (as written: not jitted, since no argument is an array)", given)
    return MeasuredCall(jax.jit(function), title, given, setup, is_jitted_here=True)


def is_staged(function: Any) -> bool:
    """Whether a function is jitted or compiled already, also inside functools.partial or as a method."""
    while issubclass(type(function), functools.partial):
        function = function.func
    if type(function) is MethodType:
        function = function.__func__
    if has_method(function, "trace") or has_method(function, "lower"):
        return True
    return isinstance(unwrap(function), jax.stages.Compiled)


def arrays_of(values: Any) -> list[Any]:
    """The arrays in a pytree, JAX's and numpy's."""
    return [leaf for leaf in jax.tree.leaves(values, is_leaf=_is_iterator) if isinstance(leaf, jax.Array | np.ndarray)]


def _arguments(made: Any, kwargs: Mapping[str, Any]) -> Arguments:
    if isinstance(made, Arguments):
        return made
    return Arguments(made if isinstance(made, tuple) else (made,), kwargs)


def _wait(values: Any) -> Any:
    jax.block_until_ready(jax.tree.leaves(values, is_leaf=_is_iterator))  # type: ignore[no-untyped-call]
    return values


def _is_iterator(value: Any) -> bool:
    """JAX warns of iterators in a pytree unless they are said to be leaves."""
    return isinstance(value, Iterator)


def _copied(leaf: Any) -> Any:
    if not isinstance(leaf, jax.Array):
        return leaf
    with contextlib.suppress(Exception):
        return leaf.copy()
    return leaf


def _deleted(given: Arguments) -> Sequence[str]:
    """Where arrays are deleted: "args[0]['w']", three at most."""
    found = []
    values = {"args": given.args, "kwargs": dict(given.kwargs)}
    for path, leaf in jax.tree_util.tree_leaves_with_path(values, is_leaf=_is_iterator):
        if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) and leaf.is_deleted():
            found.append(jax.tree_util.keystr(path[:1], simple=True) + jax.tree_util.keystr(path[1:]))
    return [*found[:3], f"{len(found) - 3} more"] if len(found) > 3 else found
