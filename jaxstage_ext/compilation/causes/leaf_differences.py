"""In what two array leaves differ: shape, dtype, weak type, sharding in the type, and where they lie."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.sameness import equal
from jaxstage_ext.compilation.causes.suggested_code import has_powers_of_two, other_axes, padding
from jaxstage_ext.compilation.records.compile_record import CallSignature
from jaxstage_ext.report.text.bounded_repr import bounded_str

_PYTHON_SCALARS = ("bool", "int", "float", "complex")

UNCOMMITTED = "uncommitted"


def leaf_differences(
    path: str, first: CallSignature, then: int, second: CallSignature, at: int
) -> Iterator[Difference]:
    """What differs in the types of a leaf of one call and a leaf of another."""
    old, new = first.avals[then], second.avals[at]
    if old is new or equal(old, new):
        return
    known = False
    if not equal(_shape(old), _shape(new)):
        known = True
        yield _shape_difference(path, old, new, _is_placed(second, at))
    if not equal(getattr(old, "dtype", None), getattr(new, "dtype", None)):
        known = True
        yield Difference(Cause.DTYPE, path, _dtype(old), _dtype(new), common_dtype((old, new)))
    if _weak(old) != _weak(new):
        known = True
        yield Difference(Cause.WEAK_TYPE, path, _strength(first, then), _strength(second, at), _dtype_code(new))
    if not known:
        yield from _sharding_differences(path, old, new)


def _shape_difference(path: str, old: Any, new: Any, is_placed: bool) -> Difference:
    """Of two shapes, with the padding that avoids it; none of an array that NumPy would take from its devices."""
    shapes = _shape(old), _shape(new)
    axes = other_axes(*shapes)
    has_sharding = bool(getattr(getattr(getattr(new, "sharding", None), "mesh", None), "shape", None))
    is_numeric = _dtype(new).isidentifier()  # keys cannot be padded
    target = "" if is_placed or has_sharding or not is_numeric else padding(path, axes, *shapes)
    return Difference(
        Cause.SHAPE,
        path,
        aval_text(old),
        aval_text(new),
        target,
        is_of_other_rank=not axes,
        has_bucket_sizes=has_powers_of_two(axes, *shapes),
    )


def _sharding_differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    shardings = getattr(old, "sharding", None), getattr(new, "sharding", None)
    if equal(*shardings) is not True:
        target = next((s for s in shardings if getattr(getattr(s, "mesh", None), "shape", None)), None)
        yield Difference(
            Cause.SHARDING_TYPE, path, sharding_text(shardings[0]), sharding_text(shardings[1]), placement_code(target)
        )
    else:
        yield Difference(Cause.UNKNOWN, path, aval_text(old), aval_text(new))


def placement_differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    """Whether a leaf lies elsewhere; of two devices of the same kind JAX lowers once and compiles for each."""
    if old is new or equal(old, new):
        return
    devices = tuple(_only_device(placement) for placement in (old, new))
    is_other = None not in devices and devices[0] != devices[1]
    cause = Cause.OTHER_DEVICE if is_other else Cause.PLACEMENT
    target = placement_code(_one_for_both(old, new))
    yield Difference(cause, path, placement_text(old), placement_text(new), target)


def as_placed(change: Difference, old: Any, new: Any) -> Difference:
    """A difference of shardings by where the leaf lies, which is what the user wrote; others as they are."""
    if change.cause is not Cause.SHARDING_TYPE:
        return change
    target = placement_code(_one_for_both(old, new))
    return replace(change, before=placement_text(old), now=placement_text(new), target=target)


def _one_for_both(old: Any, new: Any) -> Any:
    """The placement to use in every call: what names a mesh says all that the other one says, even on one device."""
    placed = [placement for placement in (old, new) if placement is not None]
    return next(filter(_has_mesh, placed), placed[0])


def _has_mesh(placement: Any) -> bool:
    return bool(getattr(getattr(placement, "mesh", None), "shape", None))


def placement_text(placement: Any) -> str:
    """Where a leaf lies: "uncommitted", "cpu:1", "P('x') on mesh (x=8)", "P('x') on mesh (x=1) of cpu:1"."""
    if placement is None:
        return UNCOMMITTED
    device = _only_device(placement)
    if device is None:
        return sharding_text(placement)
    of_device = device_text(device)
    return f"{sharding_text(placement)} of {of_device}" if _has_mesh(placement) else of_device


def _only_device(placement: Any) -> Any:
    try:
        devices = placement.device_set
    except (AttributeError, ValueError):  # none at all, or only an abstract mesh
        return None
    return next(iter(devices)) if len(devices) == 1 else None


def device_text(device: Any) -> str:
    """A device by its kind and number, "cpu:1"."""
    return f"{getattr(device, 'platform', '?')}:{getattr(device, 'id', '?')}"


def placement_code(placement: Any) -> str:
    """The second argument of `jax.device_put` that puts a value there; "" where no short one does."""
    device = _only_device(placement)
    if device is not None and not _has_mesh(placement):
        return device_code(device)
    spec = getattr(placement, "spec", None)
    return "" if spec is None else f"NamedSharding(mesh, {_spec_text(spec)})"


def device_code(device: Any) -> str:
    """An expression for a device: "jax.devices('cpu')[1]"."""
    return f"jax.devices({getattr(device, 'platform', None)!r})[{getattr(device, 'id', 0)}]"


def _spec_text(spec: Any) -> str:
    return f"P({', '.join(map(repr, spec))})"


def sharding_text(sharding: Any) -> str:
    """A sharding as the user writes it: "P('x', None) on mesh (x=4)"; "none" on no mesh."""
    spec, mesh = getattr(sharding, "spec", None), getattr(sharding, "mesh", None)
    if spec is None:
        return bounded_str(sharding, 120)
    axes = getattr(mesh, "shape", None) or {}
    sizes = ", ".join(f"{name}={size}" for name, size in axes.items())
    return f"{_spec_text(spec)} on mesh ({sizes})" if sizes else "none"


def leaf_text(signature: CallSignature, at: int) -> str:
    """The type of a leaf, "f32[8,4]"; "" where there is no such leaf."""
    return aval_text(signature.avals[at]) if at < len(signature.avals) else ""


def aval_text(aval: Any) -> str:
    """An abstract value as JAX writes it in a jaxpr."""
    try:
        return str(aval.str_short(short_dtypes=True))
    except Exception:
        return bounded_str(aval, 80)


def _is_placed(signature: CallSignature, at: int) -> bool:
    return at < len(signature.placements) and signature.placements[at] is not None


def common_dtype(avals: Sequence[Any]) -> str:
    """An expression for the dtype that JAX promotes those of some leaves to; "" where it promotes them to none."""
    try:
        dtype = functools.reduce(jnp.promote_types, (aval.dtype for aval in avals))
    except Exception:  # a dtype of keys, or one that JAX converts only explicitly
        return ""
    return _dtype_name_code(str(dtype))


def _dtype_code(aval: Any) -> str:
    return _dtype_name_code(_dtype(aval))


def _dtype_name_code(name: str) -> str:
    if name == "bool":
        return "jnp.bool_"
    return f"jnp.{name}" if name.isidentifier() else ""


def _shape(aval: Any) -> Any:
    return getattr(aval, "shape", None)


def _dtype(aval: Any) -> str:
    return str(getattr(aval, "dtype", ""))


def _weak(aval: Any) -> bool:
    return bool(getattr(aval, "weak_type", False))


def _strength(signature: CallSignature, at: int) -> str:
    """How strongly a leaf is typed: "weakly typed float32, a Python float"."""
    aval, kind = signature.avals[at], signature.kinds[at] if at < len(signature.kinds) else ""
    if not _weak(aval):
        return f"strongly typed {_dtype(aval)}"
    weak = f"weakly typed {_dtype(aval)}"
    return f"{weak}, a Python {kind}" if kind in _PYTHON_SCALARS else weak
