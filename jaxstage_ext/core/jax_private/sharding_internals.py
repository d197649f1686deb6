"""The private names of jax that tell how a lowered program's values and a sharding's devices are laid out.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
from jax.experimental.layout import Format

from jaxstage_ext.core.jax_private import refs


@dataclass(frozen=True)
class ProgramValue:
    """An argument or a result of a lowered program."""

    name: str
    """As JAX names it: "params['w']", "result[0]"; empty where it has none."""
    is_result: bool
    number: int | None
    """Of the module's parameter or result, tokens left out (only programs of one device have them); None for an
    argument that the program does not use."""
    aval: Any
    sharding: Any
    """JAX's own; None where the compiler is to choose."""


def program_values(lowered: Any, namer: refs.Namer = refs.unnamed) -> list[ProgramValue]:
    """The arguments and results of a `jax.stages.Lowered`, in their order, Refs that it closes over among them."""
    args = lowered._lowering.compile_args
    every, debug = args["all_args_info"], args["all_args_info"].debug_info
    kept = sorted(args["kept_var_idx"])
    places = {index: place for place, index in enumerate(kept)}
    values = []
    for index, aval in enumerate(every.in_avals):
        place = places.get(index)
        sharding = None if place is None else _specified(args["in_shardings"][place])
        name = _nth(debug.arg_names, index)
        values.append(ProgramValue(name, False, place, aval, sharding))
    named = [value.name for value in values]
    captured = refs.captured(lowered)
    for place, (name, ref) in enumerate(zip(namer(captured), captured, strict=True), len(kept)):
        aval = args["global_in_avals"][place] if place < len(args["global_in_avals"]) else ref
        values.append(ProgramValue(name, False, place, aval, _specified(args["in_shardings"][place])))
        named.append(name)
    paths = debug.result_paths() if callable(debug.result_paths) else debug.result_paths
    paths = refs.result_names(lowered, named, [str(path or "") for path in paths or ()])
    for place, (aval, sharding) in enumerate(zip(args["global_out_avals"], args["out_shardings"], strict=True)):
        values.append(ProgramValue(_nth(paths, place), True, place, aval, _specified(sharding)))
    return values


def memory_kind(sharding: Any) -> str | None:
    """The memory kind that a sharding names; None where it names none, as a class of the user's own may not."""
    try:
        kind = sharding.memory_kind
    except (AttributeError, NotImplementedError):
        return None
    return kind if isinstance(kind, str) else None


def own_memory_kind(sharding: Any) -> str | None:
    """The memory kind of the own memory of a sharding's devices; None where they do not say."""
    try:
        return str(next(iter(sharding.device_set)).default_memory().kind)
    except Exception:  # a device that is not here has none
        return None


def is_on_host(sharding: Any) -> bool:
    """Whether it names the host's memory, and that is not its devices' own."""
    kind = memory_kind(sharding)
    return kind is not None and "host" in kind and kind != own_memory_kind(sharding)


def _specified(sharding: Any) -> Any:
    return sharding if isinstance(sharding, jax.sharding.Sharding) else None


def _nth(names: Any, index: int) -> str:
    return str(names[index]) if names is not None and index < len(names) and names[index] is not None else ""


def hlo_sharding(sharding: Any, rank: int) -> tuple[bytes, str] | None:
    """(serialised OpSharding, text) of a `jax.sharding.Sharding` of whatever class; None where it has none."""
    try:
        hlo = sharding._to_xla_hlo_sharding(rank)
        return bytes(hlo.to_proto().SerializeToString()), str(hlo)
    except (AttributeError, NotImplementedError, TypeError):
        return None


def device_assignment(sharding: Any) -> tuple[Any, ...]:
    """The devices of a sharding in the order in which XLA numbers them; empty for those of an abstract mesh."""
    mesh = getattr(sharding, "mesh", None)
    if mesh is not None and not isinstance(mesh, jax.sharding.Mesh):
        return ()
    return tuple(getattr(sharding, "_device_assignment", ()))


def lowered_devices(lowered: Any) -> tuple[Any, ...]:
    """The kernel's devices that a lowering names, in its order; empty where it names none."""
    return tuple(lowered._lowering._device_list or ())


def input_formats(compiled: Any) -> Any:
    """The formats of a `jax.stages.Compiled`'s arguments as a tree, (args, kwargs), without Refs that it closes over.

    JAX's own property raises where there are such Refs, whose formats come last.
    """
    try:
        return compiled.input_formats
    except ValueError:
        pairs = zip(compiled._input_layouts_flat(), compiled._input_shardings_flat(), strict=True)
        flat = [Format(layout, sharding) for layout, sharding in pairs]
        return jax.tree.unflatten(compiled.in_tree, flat[: compiled.in_tree.num_leaves])


def boundary_shardings(compiled: Any) -> tuple[list[Any], list[Any]]:
    """The shardings of a `jax.stages.Compiled`'s arguments and results, those of Refs among them; None where unused."""
    try:
        inputs, outputs = compiled.input_shardings, compiled.output_shardings
        kept = {"is_leaf": lambda leaf: leaf is None}
        return jax.tree.leaves(inputs, **kept), jax.tree.leaves(outputs, **kept)
    except ValueError:
        return list(compiled._input_shardings_flat()), list(compiled._executable._out_shardings)


def result_types(compiled: Any) -> list[Any]:
    """The types of a `jax.stages.Compiled`'s results, those of Refs among them."""
    return list(compiled._executable.out_avals)
