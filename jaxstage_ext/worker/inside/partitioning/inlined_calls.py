"""Function calls in a module, replaced by what the function does, as XLA does it before it propagates shardings."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.worker.inside.module_functions import MAIN, functions

_CALL = "func.call"


def inline(module: Any) -> None:
    """Inline every call, those in loop bodies and in called functions too, and leave `main` alone."""
    known = functions(module)
    done: set[str] = set()
    with module.context:
        _inline_in(MAIN, known, done)
    for name, function in known.items():
        if name != MAIN:
            function.operation.erase()


def _inline_in(name: str, known: dict[str, Any], done: set[str]) -> None:
    if name in done:
        return
    done.add(name)
    for call in _calls(known[name].operation):
        callee = _callee(call)
        _inline_in(callee, known, done)
        _replace(call, known[callee].operation)


def _calls(operation: Any) -> list[Any]:
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(each: Any) -> Any:
        if each.name == _CALL:
            found.append(each)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _callee(call: Any) -> str:
    from jaxlib.mlir import ir

    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _replace(call: Any, function: Any) -> None:
    from jaxlib.mlir import ir

    with ir.InsertionPoint(call):
        copy = function.operation.clone(ir.InsertionPoint(call))
    block = copy.regions[0].blocks[0]
    for argument, given in zip(list(block.arguments), list(call.operands), strict=True):
        argument.replace_all_uses_with(given)
    *body, last = list(block.operations)
    for operation in body:
        operation.operation.move_before(call)
    for result, made in zip(list(call.results), list(last.operation.operands), strict=True):
        result.replace_all_uses_with(made)
    call.erase()
    copy.erase()
