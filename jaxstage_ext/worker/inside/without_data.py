"""A module without what is the user's: lines and names of the source, and the values of constants."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxlib import xla_client

from jaxstage_ext.worker.inside.clients import parsed

LARGEST_KEPT = 16
"""Elements of a constant that is left as it is: sizes, signs, small tables that decide how XLA compiles."""
MOST_RANDOM = 100_000
"""Elements of a constant that is filled with random values; larger ones have one value."""


def text(module: bytes) -> dict[str, Any]:
    """The "text" of a module whose constants have other values, without locations and names; and how many it replaced.

    "replaced" is how many constants have random values, "flat" how many of them have one value, "kernels" how many
    kernels of Pallas it has, whose functions keep their names.
    """
    made = parsed(module)
    random, replaced, flat = np.random.default_rng(0), 0, 0
    with made.context:
        for operation in _operations(made.operation):
            values = _values(operation)
            if values is None or values.is_splat or len(values) <= LARGEST_KEPT:
                continue
            operation.attributes["value"] = _other(values, random)
            replaced, flat = replaced + 1, flat + (len(values) > MOST_RANDOM)
        for function in made.body.operations:
            _without_names(function)
    written = without_paths(renamed(made.operation.get_asm(enable_debug_info=False)))
    return {"text": written, "replaced": replaced, "flat": flat, "kernels": kernels(written)}


def options(serialized: bytes) -> bytes:
    """The compile options without folders and files, which XLA_FLAGS and JAX name, and without dumps."""
    cleaned: Any = xla_client.CompileOptions.ParseFromString(serialized)
    cleaned.env_option_overrides = [
        (name, value) for name, value in cleaned.env_option_overrides if "dump" not in name and "/" not in str(value)
    ]
    flags = cleaned.executable_build_options.debug_options
    for name in dir(flags):
        if name.startswith("xla_") and isinstance(value := getattr(flags, name), str) and "/" in value:
            setattr(flags, name, "")
    return bytes(cleaned.SerializeAsString())


def _operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _operations(inner.operation)


def _values(operation: Any) -> Any:
    """The values of a constant; None of anything else."""
    from jaxlib.mlir import ir

    if operation.name != "stablehlo.constant":
        return None
    try:
        return ir.DenseElementsAttr(operation.attributes["value"])
    except ValueError:
        return None


_NUMPY = {"f16": "f2", "f32": "f4", "f64": "f8"} | {
    f"{sign}i{bits}": f"{sign or 'i'}{bits // 8}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""The types of elements that NumPy has, by their names in MLIR."""


def _other(values: Any, random: Any) -> Any:
    """Values of the same shape and type: random ones, or one value."""
    from jaxlib.mlir import ir

    tensor = ir.RankedTensorType(values.type)
    kind = _NUMPY.get(str(tensor.element_type))
    if len(values) > MOST_RANDOM or kind is None:
        return ir.DenseElementsAttr.get_splat(values.type, _one_value(tensor.element_type))
    drawn = random.integers(1, 64, len(values)) if kind[0] in "iu" else random.random(len(values))
    return ir.DenseElementsAttr.get(drawn.astype(kind).reshape(tensor.shape), type=values.type)


def _one_value(kind: Any) -> Any:
    from jaxlib.mlir import ir

    return ir.IntegerAttr.get(kind, 1) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.5)


def _without_names(function: Any) -> None:
    """Take the paths of results away, which name the keys of pytrees."""
    from jaxlib.mlir import ir

    if "res_attrs" not in function.attributes:
        return
    kept = [
        ir.DictAttr.get({each.name: each.attr for each in attributes if each.name != "jax.result_info"})
        for attributes in function.attributes["res_attrs"]
    ]
    function.attributes["res_attrs"] = ir.ArrayAttr.get(kept)


MODULE = "jit_program"
_SYMBOL = r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_$.][\w$.-]*'
_MODULE = re.compile(rf"\A((?:#[^\n]*\n)*module )@(?:{_SYMBOL})")
_FUNCTION = re.compile(rf"^ *func\.func (?:public |private )?@({_SYMBOL})\(", re.MULTILINE)
_USE = re.compile(rf"@({_SYMBOL})")
_MESH = re.compile(r"^ *sdy\.mesh @[^\n]*", re.MULTILINE)
_AXIS = re.compile(r'"([^"\n]+)"=\d')
_PATH = re.compile(rb"(?<=\x00)/[^\x00]+(?=\x00)")
_WRITTEN_PATH = re.compile(r"(?<=\\00)/(?:[^\\\"]|\\(?!00))+(?=\\00)")
_ESCAPED = re.compile(r"\\[0-9A-F]{2}|\\.")
_BODY = re.compile(r"(?<=\\22body\\22: \\22)[A-Za-z0-9+/=]+(?=\\22)")
_LOCATIONS = re.compile(r", \\22debug_locations\\22: \\22[A-Za-z0-9+/=]+\\22")
_KERNEL = re.compile(r"custom_call @(?:tpu_custom_call|mosaic_gpu\w*|__gpu\$xla\.gpu\.triton)\(")


def renamed(text: str) -> str:
    """The text with names of ours in place of the user's; `main`, which XLA looks for, keeps its own."""
    functions = {name: f"f{number}" for number, name in enumerate(_FUNCTION.findall(text)) if name != "main"}
    text = _USE.sub(lambda use: f"@{functions.get(use[1], use[1])}", text)
    text = _MODULE.sub(rf"\g<1>@{MODULE}", text, count=1)
    axes = dict.fromkeys(axis for mesh in _MESH.findall(text) for axis in _AXIS.findall(mesh))
    for number, axis in enumerate(axes):
        for quote in ('"', "\\22"):
            text = text.replace(f"{quote}{axis}{quote}", f"{quote}axis{number}{quote}")
    return text


def kernels(text: str) -> int:
    """How many kernels of Pallas are in a module: they keep the names of their functions."""
    return len(_KERNEL.findall(text))


def without_paths(text: str) -> str:
    """The text with paths inside its kernels, which are bytecode of MLIR, overwritten: of the same length."""
    text = _LOCATIONS.sub("", text)
    text = _WRITTEN_PATH.sub(lambda path: "x" * len(_ESCAPED.sub("x", path[0])), text)
    return _BODY.sub(lambda body: _without_paths(body[0]), text)


def _without_paths(body: str) -> str:
    try:
        data = base64.b64decode(body, validate=True)
    except binascii.Error:
        return body
    return base64.b64encode(_PATH.sub(lambda path: b"x" * len(path[0]), data)).decode()
