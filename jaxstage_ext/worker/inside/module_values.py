"""What a function of StableHLO takes and gives: names, types and shardings, as its module writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jaxlib import _hlo  # type: ignore[attr-defined, unused-ignore]

_DTYPES = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64", "complex<f64>": "complex128"}
_KINDS = {"f": "float", "i": "int", "si": "int", "ui": "uint"}
_LONGEST_TYPE = 80


class WrittenValue(NamedTuple):
    """A parameter or a result."""

    name: str
    shape: tuple[int | None, ...]
    """None in place of a size that is not known."""
    dtype: str
    """Its name in JAX; "" where it is not an array of numbers."""
    sharding: str
    """As it is written, `#sdy.sharding<...>` or `{devices=[2,1]<=[2]}`; "" where none is."""
    type: str
    """As MLIR writes it, cut short."""
    is_donated: bool = False
    """Whether a result may take its memory."""


_DONATED = ("tf.aliasing_output", "jax.buffer_donor")


def arguments(function: Any) -> list[WrittenValue]:
    """What a function takes, the elements of a tuple each."""
    signature = _signature(function)
    blocks = function.regions[0].blocks
    given = list(blocks[0].arguments) if len(blocks) else []
    names = [_location_name(each.location) for each in given] or [""] * len(signature.inputs)
    return [*_values(function, "arg_attrs", names, signature.inputs)]


def results(function: Any) -> list[WrittenValue]:
    """What a function gives, the elements of a tuple each."""
    signature = _signature(function)
    names = [_result_name(each) for each in _attributes(function, "res_attrs", len(signature.results))]
    return [*_values(function, "res_attrs", names, signature.results)]


def are_sharded(function: Any) -> tuple[list[bool], list[bool]]:
    """Of each parameter and each result of XLA's whether the module says its sharding."""
    signature = _signature(function)
    inputs = _attributes(function, "arg_attrs", len(signature.inputs))
    outputs = _attributes(function, "res_attrs", len(signature.results))
    made = [bool(_sharding(each)) for each in outputs]
    return [bool(_sharding(each)) for each in inputs], made if len(made) != 1 else made * len(results(function))


def _signature(function: Any) -> Any:
    from jaxlib.mlir import ir

    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _values(function: Any, kind: str, names: Sequence[str], types: Any) -> Iterator[WrittenValue]:
    for name, each, attributes in zip(names, types, _attributes(function, kind, len(types)), strict=True):
        donated = any(mark in attributes for mark in _DONATED)
        yield from (value._replace(is_donated=donated) for value in _flat(name, each, _sharding(attributes)))


def _flat(name: str, kind: Any, sharding: str) -> Iterator[WrittenValue]:
    from jaxlib.mlir import ir

    try:
        parts = ir.TupleType(kind)
    except ValueError:
        yield _value(name, kind, sharding)
        return
    for place in range(parts.num_types):
        yield from _flat(f"{name}[{place}]" if name else "", parts.get_type(place), "")


def _value(name: str, kind: Any, sharding: str) -> WrittenValue:
    from jaxlib.mlir import ir

    text = str(kind)
    written = text if len(text) <= _LONGEST_TYPE else text[: _LONGEST_TYPE - 1] + "…"
    try:
        tensor = ir.RankedTensorType(kind)
    except ValueError:
        return WrittenValue(name, (), "", sharding, written)
    shape = tuple(None if tensor.is_dynamic_dim(at) else tensor.get_dim_size(at) for at in range(tensor.rank))
    return WrittenValue(name, shape, _dtype(str(tensor.element_type)), sharding, written)


def _dtype(element: str) -> str:
    """JAX's name of an element type; "" where it has none."""
    if element in _DTYPES:
        return _DTYPES[element]
    if element.startswith(("f4E", "f6E", "f8E")):
        return f"float{element[1]}_{element[2:].lower()}"
    kind = element.rstrip("0123456789")
    return f"{_KINDS[kind]}{element[len(kind) :]}" if kind in _KINDS and kind != element else ""


def _attributes(function: Any, name: str, count: int) -> list[Any]:
    """The attributes of each argument or result; {} for each where there are none."""
    return list(function.attributes[name]) if name in function.attributes else [{}] * count


def _sharding(attributes: Any) -> str:
    if "sdy.sharding" in attributes:
        return str(attributes["sdy.sharding"])
    return spelled(attributes["mhlo.sharding"]) if "mhlo.sharding" in attributes else ""


def spelled(sharding: Any) -> str:
    """A sharding of before Shardy as text; JAX of before 2023 wrote it as a serialised OpSharding."""
    from jaxlib.mlir import ir

    data = bytes(ir.StringAttr(sharding).value_bytes)
    if data.startswith(b"{") or not data:
        return data.decode("utf-8", "replace")
    message = _hlo.OpSharding()
    message.ParseFromString(data)
    return str(_hlo.HloSharding.from_proto(message))


def _result_name(attributes: Any) -> str:
    return _text(attributes["jax.result_info"]) if "jax.result_info" in attributes else ""


def _text(attribute: Any) -> str:
    from jaxlib.mlir import ir

    try:
        return str(ir.StringAttr(attribute).value)
    except (ValueError, UnicodeDecodeError):
        return str(attribute).strip('"')


def _location_name(location: Any) -> str:
    """The name in a location, "w"; "" where it has none."""
    written = str(location)
    return written[5 : written.index('"', 5)] if written.startswith('loc("') and '":' not in written else ""
