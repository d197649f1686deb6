"""The functions of a module of StableHLO: which of them are compiled, and the module that XLA takes for one of them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

MAIN = "main"
_PARSED_AT = 'loc("-":'


def functions(module: Any) -> dict[str, Any]:
    """The functions with a body that a module holds, those of modules inside it too, by name: "inner.f"."""
    return dict(_functions(module.body, ""))


def _functions(body: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for operation in body.operations:
        kind = operation.operation.name
        if kind == "builtin.module":
            yield from _functions(operation.regions[0].blocks[0], f"{prefix}{symbol(operation) or 'module'}.")
        elif kind == "func.func" and len(operation.regions[0].blocks):
            yield prefix + symbol(operation), operation


def symbol(operation: Any) -> str:
    """The name of a function or a module; "" of a module without one."""
    from jaxlib.mlir import ir

    attributes = operation.operation.attributes
    return str(ir.StringAttr(attributes["sym_name"]).value) if "sym_name" in attributes else ""


def entries(module: Any) -> list[str]:
    """The functions that can be compiled: `main` alone where there is one, else those that are public, else all."""
    known = functions(module)
    if MAIN in known:
        return [MAIN]
    public = [name for name, function in known.items() if not _is_private(function)]
    return public or list(known)


def _is_private(function: Any) -> bool:
    attributes = function.operation.attributes
    return "sym_visibility" in attributes and str(attributes["sym_visibility"]) == '"private"'


def of_entry(module: Any, entry: str) -> Any:
    """The module of a function alone, with the functions that it calls. The module may change."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.passmanager import PassManager

    function = functions(module)[entry]
    home = function.operation.parent
    others = [each for each in functions(module).values() if each.operation.parent == home]
    with module.context:
        for other in others:
            _set_visibility(other, "public" if other == function else "private")
        alone = ir.Module.parse(bytecode(home), module.context)
        PassManager.parse("builtin.module(symbol-dce)").run(alone.operation)
    return alone


def for_xla(module: Any, name: str) -> bytes:
    """The module as XLA takes it: with this function as `main`, whose results are arrays; b"" where it is so."""
    from jaxlib.mlir import ir

    function = functions(module)[name]
    if name == MAIN and _returned_tuple(function) is None:
        return b""
    with module.context, ir.Location.unknown(module.context):
        made = ir.Module.parse(bytecode(module.operation), module.context)
        function = functions(made)[name]
        _set_visibility(function, "public")
        ir.SymbolTable.replace_all_symbol_uses(name, MAIN, made.operation)
        ir.SymbolTable.set_symbol_name(function.operation, MAIN)
        _return_arrays(function)
    return bytecode(made.operation)


def _returned_tuple(function: Any) -> Any:
    """The operation that makes the one tuple that a function returns; None where it returns none."""
    blocks = function.regions[0].blocks
    operands: Any = list(blocks[len(blocks) - 1].operations)[-1].operation.operands if len(blocks) == 1 else ()
    made = operands[0].owner if len(operands) == 1 else None
    return made if getattr(made, "name", "") in ("stablehlo.tuple", "mhlo.tuple") else None


def _return_arrays(function: Any) -> None:
    """Have it return the elements of its tuple, which XLA puts into a tuple again."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    while (made := _returned_tuple(function)) is not None:
        block = function.regions[0].blocks[0]
        operands: Any = list(made.operands)
        last = list(block.operations)[-1]
        with ir.InsertionPoint(last.operation):
            func.ReturnOp(operands)
        last.operation.erase()
        taken = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value).inputs
        kind = ir.FunctionType.get(taken, [operand.type for operand in operands])
        function.operation.attributes["function_type"] = ir.TypeAttr.get(kind)
        if "res_attrs" in function.operation.attributes:
            del function.operation.attributes["res_attrs"]


def _set_visibility(function: Any, visibility: str) -> None:
    from jaxlib.mlir import ir

    function.operation.attributes["sym_visibility"] = ir.StringAttr.get(visibility)


def without_parsed_places(module: Any) -> None:
    """Take the parser's own places, the lines of the file, from what has no location in it."""
    from jaxlib.mlir import ir

    unknown = ir.Location.unknown(module.context)

    def visit(operation: Any) -> Any:
        if str(operation.location).startswith(_PARSED_AT):
            operation.location = unknown
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if str(argument.location).startswith(_PARSED_AT):
                        argument.set_location(unknown)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)


def bytecode(operation: Any) -> bytes:
    """An operation as MLIR's bytecode."""
    written = io.BytesIO()
    operation.operation.write_bytecode(file=written)
    return written.getvalue()
