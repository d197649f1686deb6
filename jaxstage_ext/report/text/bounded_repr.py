"""`repr` and `str` of values that belong to the user: bounded in time and size, and never raising."""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jaxstage_ext.report.bounded_time import Asking, TookTooLong
from jaxstage_ext.report.text.encodable import encodable
from jaxstage_ext.report.text.shortened import shortened

LONGEST = 0.5
"""Seconds that a value's own text may take."""
_FEWER = 4
_DEEPEST = 6
_WIDEST_INTEGER = 256
"""Bits of an integer that is written out: Python's conversion to decimal digits is quadratic."""
_SMALL_ARRAY = 8
_SCALARS = frozenset({type(None), bool, float, complex, type(...), type(NotImplemented), range})
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}
_type_name, _type_module = type.__dict__["__name__"].__get__, type.__dict__["__module__"].__get__


def type_name(value: object) -> str:
    """The name of a value's type, whatever the value says of itself."""
    return str(_type_name(type(value)))


def bounded_repr(value: object, most: int = 200, seconds: float = LONGEST) -> str:
    """A value as Python writes it, on one line of at most `most` characters; a function or a class by its name.

    A float is written without the last digits that computing adds: 0.1 + 0.05 as 0.15.

    A large array is its type, such as `float32[1000,8]`. A value whose text fails or takes too long is `<Config: repr
    raised ValueError>`; what a container holds beside it is still shown. Raises nothing but KeyboardInterrupt.
    """
    text = _without_user_code(value, most, 0)
    return _line(
        _Question("repr", value, seconds).answer(lambda q: q.written(value, most, 0)) if text is None else text, most
    )


def bounded_str(value: object, most: int = 8000, seconds: float = LONGEST) -> str:
    """`str(value)` in at most `most` characters, such as an exception's message; raises as `bounded_repr` does."""
    if type(value) is str:
        return _cut(value, most)
    return _cut(_Question("str", value, seconds).answer(lambda _: _exact(str(value), most)), most)


def plain_repr(value: object, most: int = 200, exact: bool = False) -> str:
    """A value as Python writes it where that runs no code of the user's, else its type: `<Config>`.

    A float is written as 0.15 for 0.1 + 0.05, unless `exact`, as for code to copy or to tell values apart.
    """
    text = _without_user_code(value, most, 0, exact)
    return _line(f"<{type_name(value)}>" if text is None else text, most)


def plain_pair(one: object, other: object, most: int = 200) -> tuple[str, str]:
    """Two values as `plain_repr` writes them; exactly, where only that tells them apart."""
    texts = plain_repr(one, most), plain_repr(other, most)
    return texts if texts[0] != texts[1] else (plain_repr(one, most, True), plain_repr(other, most, True))


def function_name(function: object, seconds: float = LONGEST) -> str:
    """The `__name__` of a callable; empty where it has none that is text, or where asking for it fails."""

    def asked(_: object = None) -> str:
        name = getattr(function, "__name__", None)
        return encodable(_exact(name, 200)) if issubclass(type(name), str) else ""

    if type(function) in _FUNCTIONS or _package(type(function)) == "jaxlib":
        return asked()
    question = _Question("__name__", function, seconds)
    name = question.answer(asked)
    return "" if question.failed else name


class ValueTexts:
    """The texts of one call's values: each is asked for once, and all of them together take a bounded time."""

    def __init__(self, seconds: float = 2 * LONGEST) -> None:
        self._left = seconds
        self._texts: dict[tuple[Callable[..., str], int], tuple[object, str]] = {}
        self._lock = threading.RLock()

    def repr_of(self, value: object) -> str:
        """`bounded_repr(value)`. Later calls give the text of the first."""
        return self._once(bounded_repr, value)

    def name_of(self, function: object) -> str:
        """`function_name(function)`. Later calls give the text of the first."""
        return self._once(function_name, function)

    def _once(self, ask: Callable[..., str], value: object) -> str:
        key = ask, id(value)
        with self._lock:
            if key not in self._texts:
                began = time.monotonic()
                text = ask(value, seconds=max(min(self._left, LONGEST), 0.01))
                self._left -= time.monotonic() - began
                self._texts[key] = value, text
            return self._texts[key][1]


class _Question:
    """One text that a value's own code gives."""

    def __init__(self, what: str, value: object, seconds: float) -> None:
        self._what, self._value, self._seconds = what, value, seconds
        self._asking: Asking[str] | None = None
        self.failed = False

    def answer(self, ask: Callable[[_Question], str]) -> str:
        """The text, or why there is none."""
        self._asking = Asking(lambda _: self._guarded(self._value, lambda: ask(self)))
        try:
            return self._asking.value(self._seconds)
        except TookTooLong:
            return self._failure(f"took over {self._seconds:.2g} s", self._value)
        except RuntimeError:
            return self._failure("needs a thread, and none can be started", self._value)

    def _failure(self, why: str, value: object) -> str:
        self.failed = True
        return f"<{type_name(value)}: {self._what} {why}>"

    def _guarded(self, value: object, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except BaseException as error:
            self._raise_if_over()
            return self._failure(f"raised {type_name(error)}", value)

    def _raise_if_over(self) -> None:
        if self._asking is not None and self._asking.over:
            raise SystemExit

    def written(self, value: object, most: int, depth: int) -> str:
        """The text of a value, its own code included."""
        text = _without_user_code(value, most, depth)
        if text is not None:
            return text
        if type(value) in _BRACKETS:
            return _contents(value, most, lambda held: self._guarded(held, lambda: self.written(held, most, depth + 1)))
        return self._own_name(value, most) or _exact(repr(value), most)

    def _own_name(self, value: object, most: int) -> str:
        try:
            name = getattr(value, "__name__", None) if callable(value) else None
            return _exact(name, most) if issubclass(type(name), str) else ""
        except BaseException:
            self._raise_if_over()
            return ""


def _float(value: float, exact: bool) -> str:
    """A float without the last digits that computing adds: as 15 digits have it, where these are far fewer."""
    rounded, whole = repr(float(f"{value:.15g}")), repr(value)
    return rounded if not exact and len(rounded) <= len(whole) - _FEWER else whole


def _without_user_code(value: object, most: int, depth: int, exact: bool = False) -> str | None:
    """The text of a value of Python's or NumPy's own types; None where the value's own code would write it."""
    kind = type(value)
    if isinstance(value, float) and kind is float:
        return _float(value, exact)
    if kind in _SCALARS:
        return repr(value)
    if isinstance(value, int) and kind is int:
        bits = value.bit_length()
        return repr(value) if bits <= _WIDEST_INTEGER else f"<int of {bits:,} bits>"
    if isinstance(value, str | bytes) and kind in (str, bytes):
        return repr(value[: most + 1])
    if isinstance(value, _FUNCTIONS) and kind in _FUNCTIONS:
        return value.__name__
    if isinstance(value, np.dtype | np.generic) and _package(kind) == "numpy" and kind is not np.void:
        return str(value) if isinstance(value, np.dtype) else repr(value)
    if kind in _BRACKETS:
        return _plain_contents(value, most, depth, exact)
    return _array(value)


def _plain_contents(value: Any, most: int, depth: int, exact: bool) -> str | None:
    if depth >= _DEEPEST:
        return "{}…{}".format(*_BRACKETS[type(value)])
    own: list[object] = []

    def text(held: object) -> str:
        written = _without_user_code(held, most, depth + 1, exact)
        if written is None:
            own.append(held)
        return written or ""

    whole = _contents(value, most, text)
    return None if own else whole


def _contents(value: Any, most: int, text: Callable[[object], str]) -> str:
    """A container of Python's own, as much of it as there is room for."""
    opening, closing = _BRACKETS[type(value)]
    if not value:
        return f"{type_name(value)}()" if isinstance(value, set | frozenset) else opening + closing
    items: Iterable[Any] = value.items() if type(value) is dict else value
    parts: list[str] = []
    length = 0
    for item in items:
        part = f"{text(item[0])}: {text(item[1])}" if type(value) is dict else text(item)
        parts.append(part)
        length += len(part) + 2
        if length > most + 2:
            return opening + ", ".join(parts)
    after = "," if type(value) is tuple and len(value) == 1 else ""
    return f"{opening}{', '.join(parts)}{after}{closing}"


def _array(value: Any) -> str | None:
    """The type of an array of NumPy's or JAX's, and what a small one of NumPy's holds; None for other values."""
    kind = type(value)
    if _package(kind) not in ("numpy", "jax", "jaxlib"):
        return None
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if type(shape) is not tuple or dtype is None or not hasattr(kind, "__array__"):
        return None
    if kind is np.ndarray and value.size <= _SMALL_ARRAY and not dtype.hasobject:
        return repr(value)
    return f"{dtype}[{','.join(map(str, shape))}]"


def _package(kind: type) -> str:
    """The name of the package that a type says it is from; empty for anything that is not text."""
    module = _type_module(kind)
    return module.partition(".")[0] if type(module) is str else ""


def _exact(text: Any, most: int) -> str:
    """The first characters of a text, as a `str` and no subclass of it."""
    return str.__getitem__(text, slice(0, most + 1))


def _line(text: str, most: int) -> str:
    return _cut(" ".join(text[: 4 * most].split()), most)


def _cut(text: str, most: int) -> str:
    shown = encodable(text[: most + 1])
    return shortened(shown, most)
