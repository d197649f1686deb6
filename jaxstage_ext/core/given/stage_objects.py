"""The objects of `jax.stages`, as they are given: Traced, Lowered, Compiled, and a library's own forms of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxstage_ext.core.call import has_method
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.jax_private import given_objects, module_lowering
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER, TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.unavailable import Unavailable

_STAGES = {jax.stages.Traced: TRACE, jax.stages.Lowered: LOWER, jax.stages.Compiled: COMPILE}
_KINDS = {kind.__name__: kind for kind in _STAGES}


def given(value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> GivenObject | None:
    """A stage object, with the arguments of its call or those that a Compiled is called with; None for another."""
    own = _own(value)
    if own is None:
        return None
    kind = next(kind for kind in _STAGES if isinstance(own, kind))
    makers: dict[str, Callable[[Target], Any]] = {
        TRACE: lambda target: value,
        LOWER: _Lowered(value, own),
        COMPILE: _Compiled(value),
    }
    shapes = _shapes(own)
    if args or kwargs:
        _check_fits(own, args, kwargs)
        shapes = (args, dict(kwargs))
    stage = _STAGES[kind]
    return GivenObject(kind.__name__, stage, value, makers[stage], *shapes, given_objects.call_info(own))


def is_one(value: Any) -> bool:
    """Whether a value is a stage object, or a library's form of one."""
    return _own(value) is not None


def _own(value: Any) -> Any:
    """JAX's own object of a value that is one, or is a library's form of one, which has its name; else None."""
    if isinstance(value, tuple(_STAGES)):
        return value
    kind = _KINDS.get(type_name(value).rpartition(".")[2])
    own = unwrap(value) if kind is not None else None
    return own if kind is not None and isinstance(own, kind) else None


def _shapes(own: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the call that it was made of."""
    shaped = jax.tree.map(_shape, own.args_info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    is_call = isinstance(shaped, tuple) and len(shaped) == 2 and isinstance(shaped[1], dict)
    return (tuple(shaped[0]), dict(shaped[1])) if is_call else ((shaped,), {})


def _shape(info: Any) -> Any:
    return jax.ShapeDtypeStruct(info.shape, info.dtype)  # type: ignore[no-untyped-call]


class _Lowered:
    """What a Lowered has for a target."""

    def __init__(self, value: Any, own: Any) -> None:
        self._value, self._own = value, own

    def __call__(self, target: Target) -> Any:
        made_for = given_objects.platforms(self._own)
        wanted = cross_compile.platform_of(target)
        if made_for and wanted not in made_for:
            where = "this machine's device" if target.is_local else str(target)
            raise Unavailable(
                f"this Lowered is for {' and '.join(made_for)}, and {where} is {_with_article(wanted)}; "
                + (_name_target(made_for) if target.is_local else _lower_again(wanted))
            )
        return self._value if len(made_for) < 2 else module_lowering.for_platform(self._own, wanted)


def _with_article(platform: str) -> str:
    return {"cpu": "a CPU", "tpu": "a TPU", "cuda": "an NVIDIA GPU"}.get(platform, platform)


def _name_target(made_for: tuple[str, ...]) -> str:
    example = {"tpu": "v5e:2x2", "cuda": "h100", "cpu": "cpu:8"}.get(made_for[0], made_for[0])
    return f"name a target of its own, such as -t {example}"


def _lower_again(platform: str) -> str:
    return f"give its Traced, or lower that with .lower(lowering_platforms=({platform!r},))"


class _Compiled:
    """What a Compiled has for a target: itself for the machine's own device."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self, target: Target) -> Any:
        if not target.is_local:
            raise Unavailable(
                f"a Compiled is for the device that it was compiled for, not for {target}; give its Lowered, or for "
                "another platform its Traced"
            )
        return self._value


def _check_fits(own: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise TypeError where an executable does not take these arguments."""
    if has_method(own, "lower") or not isinstance(own, jax.stages.Compiled):
        raise TypeError(f"a {type_name(own)} has the arguments that it was made with; give it without arguments")
    leaves: list[Any]
    tree: Any
    leaves, tree = jax.tree.flatten((args, dict(kwargs)))
    if tree != own.in_tree:
        raise TypeError(f"it was compiled for arguments of the structure {own.in_tree}, and these have {tree}")
    info = given_objects.call_info(own)
    for place, (leaf, aval) in enumerate(zip(leaves, info.avals, strict=False)):
        if getattr(leaf, "shape", ()) != aval.shape:
            name = info.arguments[place] if place < len(info.arguments) else f"argument {place}"
            raise TypeError(
                f"it was compiled for {name} of shape {aval.shape}, and this has {leaf.shape}; lower and compile the "
                "function with the new shape"
            )
