"""Every private name of jax and jaxlib that we lean on, per version. Nothing else may import one.

Checked with jax 0.10.2, 0.11.2 and 0.12.0.1.
"""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
import jaxlib
import numpy as np
from jax._src import compiler as _compiler
from jax._src import core as _core
from jax._src import dispatch as _dispatch
from jax._src import pretty_printer as _pp
from jax._src import source_info_util as _source_info
from jax._src import stages as _stages
from jax._src.interpreters import mlir as _mlir
from jax._src.interpreters import partial_eval as _pe
from jax._src.interpreters import pxla as _pxla
from jaxlib import _hlo  # type: ignore[attr-defined, unused-ignore]

_pxla_any: Any = _pxla  # untyped
_printing = threading.Lock()
_capturing = threading.Lock()


def print_jaxpr(jaxpr: Any) -> tuple[str, list[list[tuple[int, int, Any]]]]:
    """JAX's own text of a jaxpr and, for each line, (start column, end column, equation) spans.

    JAX's printer maps its output to each equation's traceback. Tracebacks are
    shared between a forward equation and its transpose, so for the time of one
    print we have it map to the equation itself.
    """
    source_map: list[list[tuple[int, int, Any]]] = []

    def pp_eqn(eqn: Any, context: Any, settings: Any) -> Any:
        rules = _core.pp_eqn_rules if settings.custom_pp_eqn_rules else {}
        return _pp.source_map(rules.get(eqn.primitive, _core._pp_eqn)(eqn, context, settings), eqn)

    with _printing:
        original, _core.pp_eqn = _core.pp_eqn, pp_eqn
        try:
            text = jaxpr.pretty_print(use_color=False, source_map=source_map)
        finally:
            _core.pp_eqn = original
    return text, source_map


def count_equations(jaxpr: Any) -> int:
    """Equations of a jaxpr; those of a jaxpr that is shared between equations count once."""
    seen: set[int] = set()
    todo, total = [jaxpr], 0
    while todo:
        current = todo.pop()
        current = getattr(current, "jaxpr", current)
        if id(current) in seen:
            continue
        seen.add(id(current))
        total += len(current.eqns)
        for eqn in current.eqns:
            todo.extend(_core.jaxprs_in_params(eqn.params))
    return total


def raw_frames(eqn: Any) -> Iterator[tuple[Any, int]]:
    """(code object, last instruction) of an equation's stack, innermost first, JAX's own left out."""
    traceback = eqn.source_info.traceback
    if traceback is None:
        return
    codes, lasts = traceback.raw_frames()
    for code, last in zip(codes, lasts, strict=True):
        if _source_info.is_user_filename(code.co_filename):
            yield code, last


def stack_identity(eqn: Any) -> int:
    """The same for equations of one jaxpr that share a stack, as a forward equation and its transpose do."""
    return id(eqn.source_info.traceback)


def frame_position(code: Any, last: int) -> tuple[int, int, int, int]:
    """(line, column, end line, end column) of an instruction; columns count from 0."""
    frame = _source_info.raw_frame_to_frame(code, last)
    return frame.start_line, frame.start_column, frame.end_line, frame.end_column


def inner_equations(eqn: Any) -> Iterator[Any]:
    """The equations of the jaxprs that an equation holds, one level down."""
    for inner in _core.jaxprs_in_params(eqn.params):
        yield from getattr(inner, "jaxpr", inner).eqns


def name_stack(eqn: Any) -> str:
    """The name scopes around an equation: "transpose(jvp(layer3))"."""
    return str(eqn.source_info.name_stack)


def canonical_file(name: str) -> str:
    """A source file's name as JAX writes it into StableHLO locations."""
    pattern = jax.config.jax_hlo_source_file_canonicalization_regex
    return re.sub(pattern, "", name) if pattern else name


def frame_limit() -> int:
    """How many frames of a stack JAX writes into StableHLO locations."""
    limit = int(jax.config.jax_traceback_in_locations_limit)
    return limit if limit >= 0 else 1000


def stablehlo_texts(lowered: Any) -> tuple[str, str]:
    """StableHLO text without and with locations; the lines correspond."""
    operation = lowered.compiler_ir("stablehlo").operation
    return operation.get_asm(), operation.get_asm(enable_debug_info=True)


def hlo_modules(compiled: Any) -> list[Any]:
    """The optimised modules of an executable; empty where the backend gives none."""
    executable = compiled.runtime_executable()
    return list(executable.hlo_modules()) if executable is not None else []


def hlo_text(module: Any, large_constants: bool) -> str:
    """A module's text without metadata, large constants spelled out or as `{...}`."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = False
    options.print_large_constants = large_constants
    return str(module.to_string(options))


def hlo_proto(module: Any) -> bytes:
    """A module as a serialised HloModuleProto."""
    return bytes(module.as_serialized_hlo_module_proto())


class _Captured(Exception):
    """Carries the Traced out of a `.lower` that is stopped before it lowers."""

    def __init__(self, traced: Any) -> None:
        super().__init__("traced")
        self.traced = traced


def trace_through_lower(lower: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The jax.stages.Traced of an object that has `.lower` but no `.trace` (pmap, equinox.filter_jit).

    None when it lowers without JAX's Traced. Nothing is lowered.
    """
    thread = threading.get_ident()
    original = _stages.Traced.lower

    def stop(self: Any, *a: Any, **k: Any) -> Any:
        if threading.get_ident() != thread:
            return original(self, *a, **k)
        raise _Captured(self)

    with _capturing:
        _stages.Traced.lower = stop  # type: ignore[method-assign]
        try:
            lower(*args, **kwargs)
        except _Captured as captured:
            return captured.traced
        finally:
            _stages.Traced.lower = original  # type: ignore[method-assign]
    return None


def holds_python(lowered: Any) -> bool:
    """Whether a lowering's executable depends on Python objects of this lowering: callbacks, custom partitioning."""
    args = getattr(getattr(lowered, "_lowering", None), "compile_args", None)
    return args is None or bool(args.get("host_callbacks") or args.get("keepalive"))


def module_bytecode(lowered: Any) -> bytes:
    """A lowering's StableHLO as bytecode, locations included."""
    return _mlir.module_to_bytecode(lowered._lowering.stablehlo())


def static_arguments(fn: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """(argnums, argnames) that a `jax.jit` object treats as static."""
    info = getattr(fn, "_jit_info", None)
    return (tuple(info.static_argnums), tuple(info.static_argnames)) if info is not None else ((), ())


@dataclass(frozen=True)
class Placed:
    """What a lowering says about devices.

    Attributes:
      count: how many it takes.
      device_ids: those of the kernel that it names, in its order; empty when it names none (AbstractMesh).
      mesh: axis sizes of the mesh that spans them; None without a mesh.
      is_pmap: `jax.pmap` takes devices in their order, whatever the torus.
    """

    count: int
    device_ids: tuple[int, ...]
    mesh: tuple[int, ...] | None
    is_pmap: bool


def placed(lowered: Any, fn: Any) -> Placed:
    """What the lowering of `fn` says about devices."""
    args, devices = lowered._lowering.compile_args, lowered._lowering._device_list
    count = int(args["num_devices"])
    shardings = (*args["in_shardings"], *args["out_shardings"], *(args["intermediate_shardings"] or ()))
    meshes = (sharding.mesh for sharding in shardings if isinstance(sharding, jax.sharding.NamedSharding))
    context = () if (mesh := args.get("context_mesh")) is None or mesh.empty else (mesh,)
    sizes = next((tuple(mesh.axis_sizes) for mesh in (*meshes, *context) if mesh.size == count), None)
    return Placed(count, tuple(d.id for d in devices) if devices is not None else (), sizes, is_pmap(fn))


def is_pmap(fn: Any) -> bool:
    """Whether it is what `jax.pmap` gives."""
    lower = getattr(fn, "lower", None)
    return getattr(lower, "__qualname__", "").startswith("pmap.") and lower.__module__.startswith("jax.")


def compile_request(
    lowered: Any, platform: str, device_ids: Sequence[int], given: Mapping[str, Any] = MappingProxyType({})
) -> tuple[bytes, bytes]:
    """(StableHLO bytecode, serialised compile options) of a lowering.

    The options are those with which JAX itself would compile it on these devices of `platform`, the function's own
    and above them those `given`.
    """
    lowering = lowered._lowering
    args = lowering.compile_args
    inputs, outputs = _pxla_any.get_prop_to_input_output(
        args["in_shardings"], args["out_shardings"], len(args["ordered_effects"])
    )
    options = _pxla_any.create_compile_options(
        lowering.stablehlo(),
        _dispatch.should_tuple_args(len(args["global_in_avals"]), platform),
        inputs,
        outputs,
        None,
        np.array(device_ids),
        own_options(lowered) | dict(given),
    )
    return module_bytecode(lowered), options.SerializeAsString()


def xla_library() -> Path:
    """The shared library that holds XLA."""
    return Path(jaxlib.__file__).with_name("libjax_common.so")


def compile_options() -> bytes:
    """The serialised CompileOptionsProto that JAX compiles with where no option is set."""
    options = _compiler.get_compile_options(num_replicas=1, num_partitions=1)
    return bytes(options.SerializeAsString())


def build_options() -> frozenset[str]:
    """Names beside XLA's flags that compiler options could have: the attributes of JAX's CompileOptions."""
    options = _compiler.get_compile_options(num_replicas=1, num_partitions=1)
    names = (*dir(options), *dir(options.executable_build_options))
    return frozenset(name for name in names if not name.startswith("_") and name.islower())


def sets_itself(name: str, value: Any) -> bool:
    """Whether JAX takes a compiler option of this name for its CompileOptions, and does not hand it to XLA."""
    options = _compiler.get_compile_options(1, 1, env_options_overrides={name: value})
    return name not in dict(options.env_option_overrides)


def version() -> str:
    """JAX's."""
    return str(jax.__version__)


def own_options(lowered: Any) -> dict[str, Any]:
    """The compiler options that a function was jitted with; those of `.compile` come on top."""
    return dict(getattr(getattr(lowered, "_lowering", None), "_compiler_options_kvs", ()))


def with_context_mesh(traced: Any, mesh: Any) -> Any:
    """The trace as if `jax.set_mesh` had set this AbstractMesh around it; JAX itself does so for explicit axes only."""
    made = copy.copy(traced)
    made._params = traced._params | {"ctx_mesh": mesh}
    made._lojax = None
    return made


def own_shardings(fn: Any) -> tuple[str, ...]:
    """Which of "in_shardings", "out_shardings" a `jax.jit` object was made with."""
    info = getattr(fn, "_jit_info", None)
    if info is None:
        return ()
    given = (("in_shardings", info.in_shardings_leaves), ("out_shardings", info.out_shardings_leaves))
    stated = (jax.sharding.Sharding, jax.sharding.PartitionSpec)
    return tuple(name for name, leaves in given if any(isinstance(leaf, stated) for leaf in leaves))


@dataclass(frozen=True)
class Signature:
    """The arrays that a lowering takes and gives.

    Attributes:
      arguments: their paths, "p['w']".      results: "result[0]['loss']".     kept: which arguments XLA is given.
      tokens: how many parameters and results come before them, to keep effects in order.
      constants: the arrays that the program closes over, as the user's code held them.
    """

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    kept: frozenset[int]
    tokens: int
    constants: tuple[Any, ...]


def signature(traced: Any, lowered: Any) -> Signature:
    """That of a program."""
    closed, args = traced.jaxpr, lowered._lowering.compile_args
    info = closed.jaxpr.debug_info
    return Signature(
        tuple(map(str, info.arg_names or ())),
        tuple(map(str, info.result_paths or ())),
        frozenset(args["kept_var_idx"]),
        len(args["ordered_effects"]),
        tuple(getattr(const, "val", const) for const in closed.consts),
    )


def variables(atoms: Sequence[Any]) -> list[Any]:
    """Those of an equation's inputs that are no literals."""
    return [atom for atom in atoms if not isinstance(atom, _core.Literal)]


def inner_jaxprs(eqn: Any) -> list[Any]:
    """The jaxprs that an equation holds, one level down."""
    return [getattr(inner, "jaxpr", inner) for inner in _core.jaxprs_in_params(eqn.params)]


def called(eqn: Any) -> str:
    """The Python name of the function that an equation calls; "" where it says none."""
    if isinstance(name := eqn.params.get("name"), str):
        return name
    source = [str(getattr(inner.debug_info, "func_src_info", "") or "") for inner in inner_jaxprs(eqn)]
    return source[0].partition(" at ")[0] if source else ""


def split_by_policy(
    jaxpr: Any, wanted: Sequence[Any], policy: Callable[..., Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """(inputs read, values saved, equations that make them), where `wanted` of a jaxpr's values are needed later.

    This is what `jax.checkpoint` around the jaxpr would do: what the policy does not save is computed anew.
    """
    forward = jaxpr.replace(outvars=list(wanted), debug_info=jaxpr.debug_info.with_unknown_names())
    forward, _ = _pe.dce_jaxpr(forward, [True] * len(wanted), instantiate=True)
    count = len(forward.invars)
    known, staged, _, _, number = _pe.partial_eval_jaxpr_custom(
        forward, [False] * count, [True] * count, False, True, policy
    )
    _, used = _pe.dce_jaxpr(staged, [True] * len(staged.outvars))
    saved = known.outvars[len(known.outvars) - number :]
    kept = [value for value, is_used in zip(saved, used[:number], strict=True) if is_used]
    inputs = [value for value, is_used in zip(forward.invars, used[number:], strict=True) if is_used]
    own = set(forward.invars)
    inputs = list(dict.fromkeys([*inputs, *(v for v in kept if v in own)]))
    return inputs, [v for v in kept if v not in own], known.eqns
