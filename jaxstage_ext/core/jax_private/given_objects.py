"""What JAX's own stage objects say of the call that they were made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core.jax_private.jaxprs import ClosedJaxpr


@dataclass(frozen=True)
class CallInfo:
    """The call that an object of JAX's was made of."""

    name: str = ""
    """The function's; "" where JAX does not say it."""
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    """`arguments`, `results`: the paths of the arrays, "w['k']" and "result['y']"; empty where JAX does not say
    them."""
    avals: tuple[Any, ...] = ()
    """The types of the arguments, of which JAX may drop those that are not used."""


def call_info(value: Any) -> CallInfo:
    """What a Traced, Lowered, Compiled or ClosedJaxpr says of its call."""
    info, avals = _debug_info(value)
    if info is None:
        return CallInfo(avals=tuple(avals))
    return CallInfo(
        info.func_src_info.partition(" at ")[0],
        tuple(map(str, info.arg_names or ())),
        tuple(map(str, info.result_paths or ())),
        tuple(avals),
    )


def _debug_info(value: Any) -> tuple[Any, Any]:
    if isinstance(value, jax.stages.Traced):
        value = value.jaxpr
    if isinstance(value, ClosedJaxpr):
        return value.jaxpr.debug_info, value.in_avals
    if isinstance(value, jax.stages.Lowered):
        known = value._lowering.compile_args.get("all_args_info")
    else:
        known = getattr(getattr(value, "_executable", None), "_all_args_info", None)
    return (known.debug_info, known.in_avals) if known is not None else (None, ())


def platforms(lowered: Any) -> tuple[str, ...]:
    """The platforms that a Lowered is for: "cpu", "cuda", "rocm", "tpu"."""
    return tuple(lowered._lowering._platforms or ())


def is_symbolic(size: Any) -> bool:
    """Whether an axis size is an expression of `jax.export.symbolic_shape`."""
    return not isinstance(size, int) and hasattr(size, "_evaluate")


def symbols(size: Any) -> set[str]:
    """The names in a symbolic size."""
    return set(size.get_vars()) if is_symbolic(size) else set()


def evaluated(size: Any, sizes: dict[str, int]) -> int:
    """A symbolic size where its names have these sizes."""
    return int(size._evaluate(sizes)) if is_symbolic(size) else int(size)


def makes_stage_object(fn: Any) -> bool:
    """Whether a callable is one of JAX's that returns a stage object: `.trace`, `.lower`, `export` and `make_jaxpr`."""
    of, name = getattr(fn, "__self__", None), getattr(fn, "__name__", "")
    if of is not None and str(name).removeprefix("jit_") in ("trace", "lower", "compile"):
        is_jitted = callable(of) and hasattr(type(of), "lower")
        return is_jitted or isinstance(of, jax.stages.Traced | jax.stages.Lowered)
    module, qualified = str(getattr(fn, "__module__", "")), str(getattr(fn, "__qualname__", ""))
    if module == "jax":
        return qualified.startswith("make_jaxpr(")
    return module == "jax._src.export._export" and qualified.endswith(".do_export")


def argument_shardings(exported: Any) -> list[Any]:
    """The NamedSharding of each argument on a mesh without devices; None where it was left to the compiler."""
    named = getattr(exported, "_in_named_shardings", None)
    return list(named) if named is not None else [None] * len(exported.in_avals)
