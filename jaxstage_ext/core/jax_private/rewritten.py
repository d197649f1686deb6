"""Jaxprs traced anew from their equations, of which some run with other dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax._src import core as _core
from jax._src import source_info_util as _source_info

from jaxstage_ext.core.jax_private.rematerialized import renamed, with_inner
from jaxstage_ext.report.unavailable import Unavailable

_WITH_DTYPE = {
    "preferred_element_type": ("dot_general", "conv_general_dilated"),
    "new_dtype": ("convert_element_type",),
}
_WIDER_INSIDE = frozenset({"reduce_sum", "cumsum", "cumprod", "cumlogsumexp", "reduce_prod"})
"""What jnp accumulates in f32 whatever its operand is."""


class EquationWriter:
    """Runs equations on the tracers of a jaxpr that is being traced."""

    def cast(self, array: Any, dtype: str) -> Any:
        """An array in another dtype; "" as it is."""
        return jax.lax.convert_element_type(array, dtype) if dtype else array

    def literal(self, atom: Any) -> Any:
        """The value of a literal."""
        return atom.val

    def apply(self, eqn: Any, arrays: Sequence[Any], dtype: str | None) -> list[Any]:
        """The results of an equation; `dtype`, where it is given narrower operands than it has."""
        name_stack = _source_info.current_name_stack() + eqn.source_info.name_stack
        with _source_info.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            if dtype is not None and eqn.primitive.name in _WIDER_INSIDE:
                wide = [jax.lax.convert_element_type(array, atom.aval.dtype) for array, atom in _pairs(arrays, eqn)]
                return [jax.lax.convert_element_type(array, dtype) for array in self._bound(eqn, wide, None)]
            return self._bound(eqn, arrays, dtype)

    def _bound(self, eqn: Any, arrays: Sequence[Any], dtype: str | None) -> list[Any]:
        params = dict(eqn.params)
        for name, primitives in _WITH_DTYPE.items():
            if dtype is not None and eqn.primitive.name in primitives and params.get(name) is not None:
                params[name] = jax.numpy.dtype(dtype)
        made = eqn.primitive.bind(*arrays, **eqn.primitive.get_bind_params(params))
        return list(made) if eqn.primitive.multiple_results else [made]

    def with_bodies(self, eqn: Any, walk: Callable[[Any], Callable[[Sequence[Any]], list[Any]]]) -> Any:
        """The equation with each jaxpr that it holds traced anew."""
        return with_inner(eqn, lambda body: traced_anew(body, walk(body)))


def _pairs(arrays: Sequence[Any], eqn: Any) -> list[tuple[Any, Any]]:
    return list(zip(arrays, eqn.invars, strict=True))


def traced_anew(jaxpr: Any, run: Callable[[Sequence[Any]], Sequence[Any]]) -> Any:
    """The jaxpr of a function that takes what a jaxpr takes, in the same order, its constants first.

    Raises Unavailable where it cannot be traced so.
    """
    given = [*jaxpr.constvars, *jaxpr.invars]
    try:
        closed = jax.make_jaxpr(lambda *arrays: tuple(run(arrays)))(*map(_type, given))
    except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
        raise Unavailable(f"the jaxpr cannot be rewritten: {type(error).__name__}: {error}") from None
    if len(closed.consts):
        raise Unavailable("the jaxpr cannot be rewritten: it holds an array")
    names = dict(zip(closed.jaxpr.invars, given, strict=True))
    return jaxpr.replace(
        eqns=[renamed(eqn, names) for eqn in closed.jaxpr.eqns],
        outvars=[names.get(v, v) if isinstance(v, _core.Var) else v for v in closed.jaxpr.outvars],
        effects=closed.jaxpr.effects,
        debug_info=jaxpr.debug_info,
    )


def _type(var: Any) -> Any:
    aval = var.aval
    if not isinstance(aval, _core.ShapedArray):
        raise Unavailable(f"the jaxpr cannot be rewritten: {aval} is not an array")
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)  # type: ignore[no-untyped-call]
