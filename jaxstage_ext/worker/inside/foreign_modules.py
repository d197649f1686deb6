"""Modules out of files, read where a damaged one does no harm: StableHLO and HLO, as text or as bytes."""

from __future__ import annotations

import io
import re
from math import prod
from typing import Any

from jaxlib import _hlo, _jax  # type: ignore[attr-defined, unused-ignore]

from jaxstage_ext.worker.inside.clients import parsed
from jaxstage_ext.worker.inside.executable_artefacts import text

_DTYPES = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64", "complex<f64>": "complex128"}
_MESH = re.compile(r"\bsharding=\{+mesh\[([^\[\]\n]*)\]")
_NUMBER = re.compile(r"=(\d+)")
_TILES = re.compile(r"\bsharding=\{+devices=\[([\d,]+)\]")
_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_KINDS = {"f": "float", "i": "int", "ui": "uint"}


def opened(form: str, data: bytes, partitions: int = 0) -> dict[str, Any]:
    """A module in one of the forms "stablehlo", "hlo_text" and "hlo_proto"; "from_hlo_…" is its StableHLO.

    `partitions` is how many a serialised module is for, which XLA does not keep when it reads one; 0 where unknown.
    """
    if form == "stablehlo":
        return stablehlo(data)
    module = _hlo_module(data, is_text=form.endswith("text"))
    return _converted(module, partitions) if form.startswith("from_") else _described(module, partitions)


def stablehlo(data: bytes) -> dict[str, Any]:
    """A module of StableHLO, text or bytecode: its "name", "module", its bytecode, and what `main` takes and gives.

    "arguments" and "results" are (name, shape, dtype, whether the module says its sharding); "devices" is how many it
    is for. Raises ValueError where it is no such module, or has a shape that is not known.
    """
    return _module_described(module_of(data))


def _module_described(module: Any) -> dict[str, Any]:
    from jaxlib.mlir import ir

    main, attributes = main_of(module), module.operation.attributes
    signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    names = [_name(argument.location) for argument in main.regions[0].blocks[0].arguments]
    inputs, outputs = _attributes(main, "arg_attrs", names), _attributes(main, "res_attrs", signature.results)
    arguments = zip(names, signature.inputs, inputs, strict=True)
    results = zip(map(_result_name, outputs), signature.results, outputs, strict=True)
    return {
        "name": str(attributes["sym_name"]).strip('"') if "sym_name" in attributes else "main",
        "module": _bytecode(module),
        "arguments": [_value(*argument) for argument in arguments],
        "results": [_value(*result) for result in results],
        "devices": _number(module, "mhlo.num_partitions") * _number(module, "mhlo.num_replicas"),
    }


def module_of(data: bytes) -> Any:
    """StableHLO, text or bytecode, as a module. Raises ValueError where it is none."""
    try:
        module = parsed(data)
        if any(operation.operation.name.startswith("vhlo.") for operation in module.body.operations):
            with module.context:
                return _jax.mlir.deserialize_portable_artifact(data)
        return module
    except Exception as error:
        raise ValueError(str(error)) from None


def main_of(module: Any) -> Any:
    """Its function main, or its only one. Raises ValueError where it has neither."""
    functions = [operation for operation in module.body.operations if operation.operation.name == "func.func"]
    named = [each for each in functions if str(each.attributes["sym_name"]) == '"main"'] or functions
    if len(named) != 1:
        raise ValueError(f"the module has {len(named)} functions, and none of them is main")
    return named[0]


def _name(location: Any) -> str:
    """The name in a location, "w"; "" where it has none."""
    written = str(location)
    return written[5 : written.index('"', 5)] if written.startswith('loc("') and '":' not in written else ""


def _attributes(main: Any, name: str, values: Any) -> list[Any]:
    """The attributes of each argument or result; {} for each where there are none."""
    return list(main.attributes[name]) if name in main.attributes else [{} for _ in values]


def _result_name(attributes: Any) -> str:
    return str(attributes["jax.result_info"]).strip('"') if "jax.result_info" in attributes else ""


def _value(name: str, kind: Any, attributes: Any) -> tuple[str, tuple[int, ...], str, bool]:
    from jaxlib.mlir import ir

    try:
        tensor = ir.RankedTensorType(kind)
    except ValueError:
        raise ValueError(f"{name or 'a value'} is {kind}, not an array") from None
    if not tensor.has_static_shape:
        raise ValueError(f"{name or 'an argument'} has the shape {kind}: its size is not known")
    is_sharded = "sdy.sharding" in attributes or "mhlo.sharding" in attributes
    return name, tuple(tensor.shape), _dtype(str(tensor.element_type)), is_sharded


def _dtype(element: str) -> str:
    if element in _DTYPES:
        return _DTYPES[element]
    if element.startswith(("f4", "f6", "f8")):
        return f"float{element[1:].lower()}".replace("float8e", "float8_e")
    kind = element.rstrip("0123456789")
    if kind not in _KINDS:
        raise ValueError(f"{element} is not a type of an array")
    return f"{_KINDS[kind]}{element[len(kind) :]}"


def _number(module: Any, name: str) -> int:
    from jaxlib.mlir import ir

    attributes = module.operation.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else 1


def _bytecode(module: Any) -> bytes:
    written = io.BytesIO()
    module.operation.write_bytecode(file=written)
    return written.getvalue()


def _hlo_module(data: bytes, is_text: bool) -> Any:
    """Raises ValueError where XLA cannot read it."""
    if is_text:
        return _hlo.hlo_module_from_text(data.decode("utf-8-sig"))
    return _hlo.HloModule.from_serialized_hlo_module_proto(data)


def _described(module: Any, partitions: int) -> dict[str, Any]:
    """A module of HLO: "name", "proto", "text" and "devices"."""
    proto, shown = module.as_serialized_hlo_module_proto(), text(module, large_constants=False)
    return {"name": module.name, "proto": proto, "text": shown, "devices": partitions or _partitions(shown)}


def _converted(module: Any, partitions: int) -> dict[str, Any]:
    """A module of HLO as `stablehlo` describes it. Raises ValueError where it is scheduled, as compiled modules are."""
    from jaxlib.mlir import ir

    shown = text(module, large_constants=False)
    if _SCHEDULED.search(_head(shown)):
        raise ValueError("it is scheduled, so it is compiled already; a target needs the module before the passes")
    made = parsed(bytes(_jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())))
    with made.context, ir.Location.unknown():
        for name, count in (("mhlo.num_partitions", partitions or _partitions(shown)), ("mhlo.num_replicas", 1)):
            made.operation.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
    return _module_described(made)


def _head(shown: str) -> str:
    return shown.partition("\n")[0]


def _partitions(shown: str) -> int:
    """On how many devices a module runs: as its head says, or else by the shardings of its instructions."""
    if found := re.search(r"\bnum_partitions=(\d+)", _head(shown)):
        return int(found[1])
    meshes = (_NUMBER.findall(mesh) for mesh in set(_MESH.findall(shown)))
    tiles = (tile.split(",") for tile in set(_TILES.findall(shown)))
    return max((prod(map(int, sizes)) for sizes in (*meshes, *tiles)), default=1)
