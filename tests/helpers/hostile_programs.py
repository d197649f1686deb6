"""Functions and arguments that fail in every way that Python allows, as (function, arguments), by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

X = np.ones(8, np.float32)
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def plus_one(x, *rest):
    return x + 1


def raising(error: BaseException) -> Callable[..., Any]:
    def raises(x):
        raise error

    return raises


class BrokenText(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class ExitingText(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class EndlessText(Exception):
    def __str__(self) -> str:
        while True:
            pass


class Unsettable(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("it takes no attributes")


class TextOfItsOwn(str):
    def split(self, *args: object) -> Any:
        raise ValueError

    strip = splitlines = __getitem__ = __len__ = split  # type: ignore[assignment]


class StrangeText(Exception):
    def __str__(self) -> str:
        return TextOfItsOwn("hello")


class Nameless(type):
    @property
    def __name__(cls) -> str:
        raise ValueError("nameless")


class NamelessError(Exception, metaclass=Nameless):
    pass


class WithoutTraceback(Exception):
    @property
    def __traceback__(self) -> Any:
        raise ValueError

    def with_traceback(self, tb: Any) -> Any:
        raise ValueError


ERRORS: tuple[Callable[[], BaseException], ...] = (
    lambda: ValueError("v"),
    lambda: SystemExit(1),
    GeneratorExit,
    lambda: StopIteration(3),
    StopAsyncIteration,
    KeyboardInterrupt,
    MemoryError,
    RecursionError,
    BrokenText,
    ExitingText,
    EndlessText,
    Unsettable,
    StrangeText,
    NamelessError,
    WithoutTraceback,
    lambda: BaseException("b"),
    lambda: BaseExceptionGroup("g", [ValueError(), SystemExit()]),
    lambda: SyntaxError("s"),
)


class Static:
    """A static argument whose own code raises."""

    def __init__(self, error: type[BaseException], hashed: bool = True) -> None:
        self.error, self.hashed, self.asked = error, hashed, 0

    def __repr__(self) -> str:
        self.asked += 1
        raise self.error("own")

    def __eq__(self, other: object) -> bool:
        raise self.error("own")

    def __hash__(self) -> int:
        if not self.hashed:
            raise self.error("own")
        return 1


class Endless:
    def __init__(self) -> None:
        self.asked = 0

    def __repr__(self) -> str:
        self.asked += 1
        while True:
            pass


class NamelessFunction:
    __call__ = staticmethod(plus_one)

    @property
    def __name__(self) -> str:
        raise ValueError("nameless")


class AnyAttribute:
    __call__ = staticmethod(plus_one)

    def __getattr__(self, name: str) -> Any:
        return self


class NoAttribute:
    __call__ = staticmethod(plus_one)

    def __getattr__(self, name: str) -> Any:
        raise ValueError(name)


class NoClass:
    __call__ = staticmethod(plus_one)

    @property
    def __class__(self) -> Any:
        raise ValueError("class")


class NoSignature:
    __call__ = staticmethod(plus_one)

    @property
    def __signature__(self) -> Any:
        raise ValueError("signature")


class SaysItIsAnArray:
    __class__ = jax.Array  # type: ignore[assignment]


class NoShape:
    @property
    def shape(self) -> Any:
        raise ValueError("shape")

    dtype = shape


class Unflattened:
    pass


def _no_leaves(value: Unflattened) -> Any:
    raise ZeroDivisionError


jax.tree_util.register_pytree_node(Unflattened, _no_leaves, lambda aux, children: Unflattened())


def wrapping_itself() -> Callable[..., Any]:
    def loops(x):
        return x + 1

    def other(x):
        return x + 2

    loops.__wrapped__, other.__wrapped__ = other, loops  # type: ignore[attr-defined]
    return loops


def nested(depth: int) -> Callable[..., Any]:
    """Jits within jits, each deeper than the one around it."""
    function: Callable[..., Any] = plus_one
    for _ in range(depth):
        function = _twice(jax.jit(function))
    return function


def _twice(inner: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: inner(x) * 2


def _static(value: Any) -> Case:
    return jax.jit(plus_one, static_argnums=1), (X, value)


def _with_default(value: Any) -> Callable[..., Any]:
    return lambda x, option=value: x + 1


def cases() -> Iterator[tuple[str, Case]]:
    """Each case made anew."""
    for made in ERRORS:
        yield f"raises {type.__dict__['__name__'].__get__(type(made()))}", (raising(made()), (X,))
    yield "wraps itself", (wrapping_itself(), (X,))
    yield "120 nested jits", (nested(120), (X,))
    yield "400 nested jits", (nested(400), (X,))
    for error in (RecursionError, SystemExit, MemoryError, ValueError):
        yield f"static {error.__name__}", _static(Static(error))
        yield f"unhashable {error.__name__}", _static(Static(error, hashed=False))
    yield "static endless", _static(Endless())
    yield "traced endless", (plus_one, (X, Endless()))
    yield "default endless", (_with_default(Endless()), (X,))
    yield "default raises", (_with_default(Static(SystemExit)), (X,))
    yield "partial", (functools.partial(plus_one, Endless()), (X,))
    for kind in (NamelessFunction, AnyAttribute, NoAttribute, NoClass, NoSignature, mock.Mock, mock.MagicMock):
        yield kind.__name__, (kind(), (X,))
    for value in (SaysItIsAnArray(), NoShape(), Unflattened(), {Static(ValueError): jnp.ones(3)}, {NoShape(): X}):
        yield f"argument {type(value).__name__}", (plus_one, (X, value))
    yield "a function that is none", (Endless(), (X,))  # type: ignore[misc]
