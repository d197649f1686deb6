"""Code that advice suggests, with the user's own names: a call, one type of array, one shape by padding.

Arrays are padded by NumPy, which compiles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.compilation.causes.argument_paths import arguments
from jaxstage_ext.compilation.causes.cause import Difference
from jaxstage_ext.compilation.causes.sameness import equal
from jaxstage_ext.compilation.records.call_parameters import call_parameters
from jaxstage_ext.compilation.records.compile_record import CompileRecord


def call_text(record: CompileRecord, keyword: Mapping[str, bool]) -> str:
    """A call with its parameters' names for arguments.

    Args:
      record: of the call.
      keyword: of some arguments whether they are to be given by keyword; the others are given as they were.
    """
    known = call_parameters(record.function)
    statics = (
        [value.name for value in record.signature.statics if value.name.isidentifier()] if record.signature else []
    )
    by_keyword = set(record.signature.keywords if record.signature else ())
    forms: dict[str, bool] = {argument.name: argument.by_keyword for argument in arguments(record)}
    forms |= {name: name in by_keyword for name in statics}
    forms |= keyword
    order = [name for name in known.order if name in forms] + [name for name in forms if name not in known.order]
    words, is_late = [], False
    for name in order:
        is_late = forms[name] or (is_late and known.may_be_keyword(name))
        words.append(f"{name}={name}" if is_late else name)
    name = record.name if record.name.isidentifier() else "fn"
    return f"{name}({', '.join(words)})"


_ARRAY = re.compile(r"(?:weak )?(bf|[fiuc])(\d+)\[")
_NAMES = {"bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}
_DEFAULT = "float"
"""JAX's default: float32, or float64 where jax_enable_x64 is on."""
_INTEGER = re.compile(r"[-+]?\d+")


def as_one_array(difference: Difference) -> str:
    """`jnp.asarray` of the argument, with a dtype where the two calls would make different arrays without one.

    `jnp.asarray` of a Python number is weakly typed, and of an int it is an integer: either is a program of its own
    beside that of a strongly typed float.
    """
    dtype = _dtype((difference.before, difference.now))
    return f"jnp.asarray({difference.what}{f', {dtype}' if dtype else ''})"


def _dtype(values: Sequence[str]) -> str:
    arrays = [match for value in values if (match := _ARRAY.match(value))]
    integers = [_INTEGER.fullmatch(value) is not None for value in values if not _ARRAY.match(value)]
    if not arrays:
        return "" if len(set(integers)) == 1 else _DEFAULT
    kind, bits = arrays[0].groups()
    return _DEFAULT if kind in "iu" and not all(integers) else f"jnp.{_NAMES[kind]}{bits}"


def other_axes(old: Any, new: Any) -> tuple[int, ...]:
    """The axes of two shapes whose sizes differ; none of shapes of other ranks."""
    if old is None or new is None or len(old) != len(new):
        return ()
    return tuple(at for at, (size, other) in enumerate(zip(old, new, strict=True)) if not equal(size, other))


def has_powers_of_two(axes: tuple[int, ...], old: Any, new: Any) -> bool:
    """Whether the sizes of those axes are powers of two, from 2 on, in both shapes."""
    return bool(axes) and all(_is_power_of_two(shape[at]) for shape in (old, new) for at in axes)


def _is_power_of_two(size: Any) -> bool:
    return isinstance(size, int) and size > 1 and size & (size - 1) == 0


def padding(path: str, axes: tuple[int, ...], old: Any, new: Any) -> str:
    """The array padded along those axes: to powers of two, or where all are that already, to the larger size."""
    if not axes:
        return ""
    is_fixed = has_powers_of_two(axes, old, new)
    missing = {at: _missing(path, at, max(old[at], new[at]) if is_fixed else 0) for at in axes}
    pads = [f"(0, {missing[at]})" if at in missing else "(0, 0)" for at in range(len(new))]
    return f"np.pad({path}, {pads[0] if len(pads) == 1 else '(' + ', '.join(pads) + ')'})"


def _missing(path: str, axis: int, fixed: int) -> str:
    size = f"{path}.shape[{axis}]"
    return f"{fixed or f'(1 << ({size} - 1).bit_length())'} - {size}"
