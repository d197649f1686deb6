"""Lowered programs: their module, their devices, their signature, and how JAX would compile them."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from jax._src import core as _core
from jax._src import dispatch as _dispatch
from jax._src.interpreters import mlir as _mlir
from jax._src.interpreters import pxla as _pxla
from jaxlib.mlir import ir as _ir

from jaxstage_ext.core.jax_private import module_lowering, refs
from jaxstage_ext.core.jax_private.given_objects import call_info
from jaxstage_ext.core.jax_private.given_options import is_profiled
from jaxstage_ext.core.jax_private.jax_options import PROFILED
from jaxstage_ext.core.jax_private.tracing import is_pmap
from jaxstage_ext.report.text.units import scaled

_pxla_any: Any = _pxla  # untyped
LARGEST_WRITTEN = 1024
"""Elements of the largest constant that the text of StableHLO has in full."""
_ELIDED = "dense_resource<__elided__>"
_NOT_COUNTED = {
    "stablehlo.constant",
    "builtin.module",
    "func.func",
    "func.return",
    "stablehlo.return",
    "sdy.mesh",
    "sdy.return",
}


def stablehlo_texts(lowered: Any) -> tuple[str, str]:
    """StableHLO text without and with locations; the lines correspond."""
    return texts_of_module(lowered.compiler_ir("stablehlo"))


def texts_of_module(module: Any) -> tuple[str, str]:
    """The text of an MLIR module without and with locations; the lines correspond.

    Of a large constant, which MLIR writes as one word of two letters a byte, they have the size and a digest.
    """
    operation, limit = module.operation, LARGEST_WRITTEN
    text, debug_text = (operation.get_asm(enable_debug_info=each, large_elements_limit=limit) for each in (False, True))
    if _ELIDED not in text:
        return text, debug_text
    described = list(_large_constants(operation))
    return _with_constants(text, described), _with_constants(debug_text, described)


def _large_constants(operation: Any) -> Iterator[str]:
    """The constants that MLIR leaves out, in the order of the text."""
    found: list[Any] = []

    def visit(each: Any) -> Any:
        if each.name == "stablehlo.constant" and math.prod(each.results[0].type.shape) > LARGEST_WRITTEN:
            found.append(each)
        return _ir.WalkResult.ADVANCE

    operation.walk(visit, _ir.WalkOrder.PRE_ORDER)
    for data in filter(None, map(_contents, found)):
        yield f'dense<"{scaled(len(data), "B")}, sha256 {hashlib.sha256(data).hexdigest()[:16]}">'


def _contents(constant: Any) -> Any:
    """The bytes of a constant; of a type that Python has no buffers of, such as bfloat16, from its text. None of one
    value throughout, which MLIR writes.
    """
    with contextlib.suppress(TypeError, BufferError):
        value = constant.attributes["value"]
        return None if value.is_splat else memoryview(value).cast("B")
    _, mark, rest = constant.get_asm().partition('dense<"0x')
    return bytes.fromhex(rest.partition('"')[0]) if mark else None


def _with_constants(text: str, constants: Sequence[str]) -> str:
    parts = text.split(_ELIDED)
    if len(parts) != len(constants) + 1:  # what another operation holds is left out as well
        return text
    return "".join(part for pair in zip(parts, (*constants, ""), strict=True) for part in pair)


def holds_python(lowered: Any) -> bool:
    """Whether a lowering's executable depends on Python objects of this lowering: callbacks, custom partitioning."""
    args = getattr(getattr(lowered, "_lowering", None), "compile_args", None)
    return args is None or bool(args.get("host_callbacks") or args.get("keepalive"))


def module_bytecode(lowered: Any) -> bytes:
    """A lowering's StableHLO as bytecode, locations included."""
    return _mlir.module_to_bytecode(lowered._lowering.stablehlo())


def module_of_lowered(lowered: Any) -> Any:
    """A lowering's module as JAX's caches have it; None of a library's own Lowered."""
    lowering = getattr(lowered, "_lowering", None)
    return None if lowering is None else lowering.stablehlo()


def meshes_of_module(lowered: Any) -> list[str]:
    """The meshes of a lowering's module, in MLIR's text, which escapes all but printable ASCII characters."""
    operations = (each.operation for each in lowered._lowering.stablehlo().body.operations)
    return [str(operation.attributes["mesh"]) for operation in operations if operation.name == "sdy.mesh"]


def count_operations(lowered: Any) -> int:
    """The operations of a lowering's StableHLO as its text has them, without constants, functions and returns."""
    counted = 0

    def visit(operation: Any) -> Any:
        nonlocal counted
        counted += operation.name not in _NOT_COUNTED
        return _ir.WalkResult.SKIP if _is_short_reduce(operation) else _ir.WalkResult.ADVANCE

    lowered._lowering.stablehlo().operation.walk(visit, _ir.WalkOrder.PRE_ORDER)
    return counted


def _is_short_reduce(operation: Any) -> bool:
    """Whether the text has it on one line, "applies stablehlo.add", without a body."""
    return operation.name == "stablehlo.reduce" and len(operation.regions[0].blocks[0].operations) == 2


def own_options(lowered: Any) -> dict[str, Any]:
    """The compiler options that a function was jitted with; those of `.compile` come on top."""
    return dict(getattr(getattr(lowered, "_lowering", None), "_compiler_options_kvs", ()))


@dataclass(frozen=True)
class Placed:
    """What a lowering says about devices."""

    count: int
    """How many it takes."""
    device_ids: tuple[int, ...]
    """Those of the kernel that it names, in its order; empty when it names none (AbstractMesh)."""
    mesh: tuple[int, ...] | None
    """Axis sizes of the mesh that spans them; None without a mesh."""
    is_pmap: bool
    """`jax.pmap` takes devices in their order, whatever the torus."""


def placed(lowered: Any, fn: Any) -> Placed:
    """What the lowering of `fn` says about devices."""
    args, devices = lowered._lowering.compile_args, lowered._lowering._device_list
    count = int(args["num_devices"])
    shardings = (*args["in_shardings"], *args["out_shardings"], *(args["intermediate_shardings"] or ()))
    meshes = (sharding.mesh for sharding in shardings if isinstance(sharding, jax.sharding.NamedSharding))
    context = () if (mesh := args.get("context_mesh")) is None or mesh.empty else (mesh,)
    sizes = next((tuple(mesh.axis_sizes) for mesh in (*meshes, *context) if mesh.size == count), None)
    return Placed(count, tuple(d.id for d in devices) if devices is not None else (), sizes, is_pmap(fn))


def compile_request(
    lowered: Any, platform: str, device_ids: Sequence[int], given: Mapping[str, Any] = MappingProxyType({})
) -> tuple[bytes, bytes]:
    """(StableHLO bytecode, serialised compile options) of a lowering.

    The options are those with which JAX itself would compile it on these devices of `platform`, the function's own
    and above them those `given`.
    """
    lowering = lowered._lowering
    args = lowering.compile_args
    written = module_lowering.written_module(lowered)
    inputs, outputs = (
        written.propagates
        if written is not None
        else _pxla_any.get_prop_to_input_output(
            args["in_shardings"], args["out_shardings"], len(args["ordered_effects"])
        )
    )
    by_name = own_options(lowered) | dict(given)
    if is_profiled() and not by_name.get("fdo_profile"):
        by_name = dict([PROFILED]) | by_name
    options = _pxla_any.create_compile_options(
        lowering.stablehlo(),
        _dispatch.should_tuple_args(len(args["global_in_avals"]), platform),
        inputs,
        outputs,
        None,
        np.array(device_ids),
        by_name,
    )
    if written is not None:
        module_lowering.check_sizes(written)
        module_lowering.set_for(written, options, device_ids)
        return written.compiled or module_bytecode(lowered), options.SerializeAsString()
    module = _mlir.module_to_bytecode(_refined(lowering)) if _is_polymorphic(lowering) else module_bytecode(lowered)
    return module, options.SerializeAsString()


def _is_polymorphic(lowering: Any) -> bool:
    """Whether shapes in it depend on those of its arguments, which are known: it calls a symbolic Exported."""
    state = lowering.compile_args.get("shape_poly_state")
    if state is None or not state.uses_dim_vars:
        return False
    return all(
        isinstance(size, int)
        for aval in lowering.compile_args["global_in_avals"]
        for size in getattr(aval, "shape", ())
    )


def _refined(lowering: Any) -> Any:
    """Its module with the sizes of its arguments put into all shapes, as JAX does it before it compiles."""
    return _mlir.refine_polymorphic_shapes(lowering.stablehlo())


@dataclass(frozen=True)
class Signature:
    """The arrays that a lowering takes and gives."""

    arguments: tuple[str, ...]
    """Their paths, "p['w']"."""
    results: tuple[str, ...]
    """"result[0]['loss']"."""
    kept: frozenset[int]
    """Which arguments XLA is given."""
    tokens: int
    """How many parameters and results come before them, to keep effects in order."""
    constants: tuple[Any, ...]
    """The arrays that the program closes over, as the user's code held them."""
    captured: tuple[Any, ...] = ()
    """The Refs that it closes over, which are its last arguments."""
    own_tokens: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Which arguments, and which results, are tokens that the user's function takes and gives."""


def signature(traced: Any, lowered: Any, namer: refs.Namer = refs.unnamed) -> Signature:
    """The arrays that a lowered program takes and gives; without its trace, no constants are known.

    Refs that it closes over are arguments behind the others, called as `namer` says.
    """
    if (written := module_lowering.written_module(lowered)) is not None:
        names = [[value.name for value in values] for values in (written.arguments, written.results)]
        given = tuple(name or f"arg{place}" for place, name in enumerate(names[0]))
        made = tuple(name or f"result[{place}]" for place, name in enumerate(names[1]))
        return Signature(given, made, frozenset(range(len(given))), 0, ())
    args = lowered._lowering.compile_args
    info = call_info(lowered if traced is None else traced)
    constants = () if traced is None else traced.jaxpr.consts
    captured = refs.captured(lowered)
    own = len(info.arguments)
    arguments = (*info.arguments, *namer(captured))
    return Signature(
        arguments,
        refs.result_names(lowered, arguments, info.results),
        frozenset(args["kept_var_idx"]) | frozenset(range(own, own + len(captured))),
        len(args["ordered_effects"]),
        tuple(getattr(const, "val", const) for const in constants if not refs.is_ref(const)),
        captured,
        (_tokens(info.avals), _tokens(args["global_out_avals"])),
    )


def _tokens(avals: Sequence[Any]) -> frozenset[int]:
    return frozenset(at for at, aval in enumerate(avals) if aval is _core.abstract_token)
