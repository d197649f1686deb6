"""What plain JAX says of the ten programs, as written and as mended: not a line of the product is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding

Program = Callable[..., Any]
Arguments = Sequence[Any]


def equations(fn: Program, args: Arguments) -> Iterator[tuple[Any, bool]]:
    """Every equation of a call's jaxpr, and whether it is in the body of a loop."""

    def of(jaxpr: Any, is_in_loop: bool) -> Iterator[tuple[Any, bool]]:
        for eqn in jaxpr.eqns:
            yield eqn, is_in_loop
            for inner in jaxprs(eqn):
                yield from of(inner, is_in_loop or eqn.primitive.name in ("scan", "while"))

    yield from of(jax.make_jaxpr(fn)(*args).jaxpr, False)


def jaxprs(eqn: Any) -> list[Any]:
    """The jaxprs, closed or not, among what an equation has."""
    values = [one for value in eqn.params.values() for one in (value if isinstance(value, tuple) else (value,))]
    return [value for value in values if hasattr(value, "eqns")]


def dtypes_of_products(fn: Program, args: Arguments, _: Any) -> set[str]:
    products = (eqn for eqn, _ in equations(fn, args) if eqn.primitive.name == "dot_general")
    return {str(operand.aval.dtype) for eqn in products for operand in eqn.invars}


def reused_buffers(fn: Program, args: Arguments, _: Any) -> int:
    lowered: str = fn.lower(*args).as_text()  # type: ignore[attr-defined]
    return lowered.count("tf.aliasing_output")


def on_four_devices(fn: Program, args: Arguments, module: Any) -> Any:
    """The call compiled on four CPU devices, with the module's specs."""
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
    with jax.set_mesh(mesh):
        shardings = [NamedSharding(mesh, spec) for spec in module.specs.values()]
        return jax.jit(fn, in_shardings=shardings).lower(*args).compile()


def all_gathers(fn: Program, args: Arguments, module: Any) -> int:
    return on_four_devices(fn, args, module).as_text().count(" all-gather(")


def shares_of_the_work(fn: Program, args: Arguments, module: Any) -> int:
    """Among how many devices XLA's own count of FLOPs is divided."""
    whole = jax.jit(fn).lower(*args).compile().cost_analysis()["flops"]
    return round(whole / on_four_devices(fn, args, module).cost_analysis()["flops"])


def sorts(fn: Program, args: Arguments, _: Any) -> tuple[bool, list[int]]:
    """Whether all is sorted, and what the call gives of some scores."""
    scores = np.random.default_rng(0).permutation(args[0].shape[0]).astype(np.float32)
    return "stablehlo.sort" in jax.jit(fn).lower(*args).as_text(), np.asarray(fn(jnp.asarray(scores))).tolist()


def factorisations_in_loops(fn: Program, args: Arguments, _: Any) -> int:
    return sum(is_in_loop and eqn.primitive.name == "cholesky" for eqn, is_in_loop in equations(fn, args))


def captured_bytes(fn: Program, args: Arguments, _: Any) -> int:
    closed = [jax.make_jaxpr(fn)(*args), *(each for eqn, _ in equations(fn, args) for each in jaxprs(eqn))]
    return sum(np.asarray(const).nbytes for each in closed for const in getattr(each, "consts", ()))


def reuses_a_key(fn: Program, args: Arguments, _: Any) -> bool:
    with jax.debug_key_reuse(True):
        try:
            jax.jit(fn).lower(*args)
        except jax.errors.KeyReuseError:
            return True
    return False


def callbacks_in_loops(fn: Program, args: Arguments, _: Any) -> int:
    return sum(is_in_loop and "callback" in eqn.primitive.name for eqn, is_in_loop in equations(fn, args))


ORACLES: dict[str, tuple[Callable[[Program, Arguments, Any], Any], Any, Any]] = {
    "promotion": (dtypes_of_products, {"bfloat16", "float32"}, {"bfloat16"}),
    "undonated_state": (reused_buffers, 0, 1),
    "gathered_rows": (all_gathers, 1, 0),
    "repeated_batch": (shares_of_the_work, 1, 4),
    "whole_sort": (sorts, True, False),
    "widened_product": (dtypes_of_products, {"float32"}, {"bfloat16"}),
    "repeated_factor": (factorisations_in_loops, 1, 0),
    "captured_table": (captured_bytes, 200_000 * 32 * 4, 0),
    "same_key": (reuses_a_key, True, False),
    "host_callback": (callbacks_in_loops, 1, 0),
}
"""By program: what is asked, and what it is before and after."""
