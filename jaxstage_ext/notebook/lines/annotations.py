"""Argument shapes from a function's jaxtyping annotations, without importing jaxtyping."""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import os
import types
import typing
from collections.abc import Callable
from typing import Any

from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.notebook.lines.arguments import Dims, dtype_named, key_dtype, shape_of

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_DEFAULTS = ("float32", "int32", "uint32", "complex64", "bool")
_WIDE = {"float32": "float64", "int32": "int64", "uint32": "uint64", "complex64": "complex128"}


_MOST_WRAPPERS = 1000
"""Wrappers that are looked through; a function that wraps itself has no end of them."""


class NoShape(Exception):
    """The annotation gives no shape. The message says why, and follows the parameter's name."""


def shape_from(annotation: Any, dims: Dims) -> Any:
    """The `jax.ShapeDtypeStruct` of a jaxtyping annotation such as `Float[Array, "b 128"]`.

    Raises NoShape where it does not determine both the shape and the dtype.
    """
    annotation = _unwrapped(annotation)
    if annotation is inspect.Parameter.empty:
        raise NoShape("has no annotation")
    if not (hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes")):
        raise NoShape(f"is annotated {_spelled(annotation)}, which gives no shape")
    shape = tuple(_size(part, dims) for part in annotation.dim_str.split() if part != "")
    try:
        return shape_of(shape, _dtype(annotation))
    except ValueError as error:
        raise NoShape(f"is annotated with a dtype that JAX would narrow: {error}") from None


def _unwrapped(annotation: Any) -> Any:
    """The annotation inside `Annotated[X, ...]` and `X | None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _unwrapped(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not type(None)]
        shaped = [part for part in parts if hasattr(part, "dim_str")]
        return _unwrapped((shaped or parts)[0]) if shaped or len(parts) == 1 else annotation
    return annotation


def _spelled(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return getattr(annotation, "__name__", None) or str(annotation)


def _size(token: str, dims: Dims) -> int:
    if token == "..." or token.startswith("*"):
        raise NoShape(f"has an axis {token!r} that stands for any number of axes; pass --args")
    token = token.lstrip("#?_")
    if not token:
        raise NoShape("has an axis '_' without a size; pass --args")
    name, given, size = token.partition("=")
    if given and size.isdigit():
        return int(size)
    try:
        return int(_evaluate(ast.parse(name, mode="eval").body, dims))
    except KeyError as missing:
        raise NoShape(f"has an axis {missing.args[0]!r} without a size; pass --dim {missing.args[0]}=8") from None
    except (SyntaxError, TypeError, ValueError):
        raise NoShape(f"has an axis {token!r} that only jaxtyping can evaluate; pass --args") from None


def _evaluate(node: ast.expr, dims: Dims) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return dims[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, dims), _evaluate(node.right, dims))
    raise ValueError(ast.unparse(node))


def _dtype(annotation: Any) -> Any:
    """The annotation's dtype; for a class of dtypes such as Float, the one that JAX makes by default."""
    import jax

    names = list(annotation.dtypes) if isinstance(annotation.dtypes, list | tuple) else []
    if names == ["prng_key"]:
        return key_dtype()
    if len(names) == 1 and (exact := dtype_named(str(names[0]))) is not None:
        return exact
    chosen = next((name for name in _DEFAULTS if name in names), None)
    if chosen is None:
        raise NoShape(f"is annotated {_spelled(annotation)}, which leaves the dtype open")
    return dtype_named(_WIDE.get(chosen, chosen) if jax.config.jax_enable_x64 else chosen)


def parameters(fn: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a callable, with evaluated annotations; None where Python does not know them."""
    for evaluated in (True, False):
        try:
            return list(signature_of(fn, evaluated).parameters.values())
        except NameError:
            continue
        except (TypeError, ValueError):
            return None
    return None


def _jax_folder() -> str:
    import jax

    return os.path.join(os.path.dirname(jax.__file__), "")


def describe_arguments(fn: Any) -> bool:
    """Whether a callable's annotations describe its own arguments.

    `jax.vmap(f)` and the like carry the annotations of `f`, whose arguments have other shapes.
    """
    for _ in range(_MOST_WRAPPERS):
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif isinstance(fn, types.MethodType):
            fn = fn.__func__
        elif (isinstance(fn, types.FunctionType) and fn.__code__.co_filename.startswith(_jax_folder())) or any(
            word in type(fn).__name__.lower() for word in ("pmap", "vmap")
        ):
            return False
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        else:
            return True
    return False
