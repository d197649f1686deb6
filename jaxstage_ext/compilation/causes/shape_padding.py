"""The padding that gives arrays of several shapes one shape, by NumPy, which compiles nothing."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.compilation.causes.sameness import equal


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
