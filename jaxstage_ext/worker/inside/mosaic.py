"""Pallas kernels for TPUs, and those of Mosaic GPU: the MLIR bytecode of a custom call as text.

Runs in the worker: jaxlib alone.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any


def text(body: str, debug_locations: str | None) -> tuple[str, str]:
    """(text without locations, text with them) of a kernel.

    Args:
      body: MLIR bytecode in base64, "custom_call_config.body" of the custom call.
      debug_locations: the same beside it, a module whose `tpu.locs` are the locations in order; newer JAX has it.
    """
    from jaxlib.mlir import ir, passmanager

    context = _context()
    module: Any = ir.Module.parse(base64.b64decode(body), context=context)
    with context:
        if debug_locations:
            _locate(module.operation, _locations(base64.b64decode(debug_locations), context))
        passmanager.PassManager.parse("builtin.module(mosaic-serde{serialize=false})").run(module.operation)
        return module.operation.get_asm(), module.operation.get_asm(enable_debug_info=True)


def gpu_text(module: str) -> tuple[str, str]:
    """(text without locations, text with them) of a Mosaic GPU kernel.

    Args:
      module: MLIR bytecode in base64, of the backend_config of the custom call.
    """
    from jaxlib.mlir import ir, passmanager

    context = _context()
    read: Any = ir.Module.parse(base64.b64decode(module), context=context)
    with context, contextlib.suppress(Exception):  # of a version that this jaxlib lacks: its stable form is shown
        passmanager.PassManager.parse("builtin.module(mosaic_gpu-serde{serialize=false})").run(read.operation)
    return read.operation.get_asm(), read.operation.get_asm(enable_debug_info=True)


def _context() -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _tpu_ext  # type: ignore[attr-defined, unused-ignore]

    registry, context = ir.DialectRegistry(), ir.Context()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    _tpu_ext.register_dialect(context)
    context.allow_unregistered_dialects = True
    context.load_all_available_dialects()
    return context


def _locations(module: bytes, context: Any) -> list[Any]:
    """The locations in a module's `tpu.locs`. The bindings give none out of an attribute, but those of operations."""
    from jaxlib.mlir import ir

    located: Any = ir.Module.parse(module, context=context)
    text = located.operation.get_asm(enable_debug_info=True)
    listed = re.search(r"tpu\.locs = \[([^\[\]]*)\]", text)
    aliases = [line for line in text.split("\n") if line.startswith("#loc")]
    names = listed[1].split(", ") if listed else []
    operations = [f'"jaxstage.at"() : () -> () loc({name})' for name in names]
    parsed: Any = ir.Module.parse("\n".join(["module {", *operations, "}", *aliases]), context=context)
    return [operation.operation.location for operation in parsed.body.operations]


def _locate(operation: Any, locations: list[Any]) -> None:
    """Give operations and block arguments their locations, one each in the order of the text, if that is how many."""
    setters = list(_setters(operation))
    for setter, location in zip(setters, locations, strict=False) if len(setters) == len(locations) else ():
        setter(location)


def _setters(operation: Any) -> Iterator[Callable[[Any], None]]:
    yield functools.partial(setattr, operation, "location")
    for region in operation.regions:
        for block in region.blocks:
            yield from (argument.set_location for argument in block.arguments)
            for inner in block.operations:
                yield from _setters(inner.operation)
