"""Why layouts of a program cannot be searched, in one sentence each, with what to do."""

from __future__ import annotations

from collections.abc import Sequence

NOT_A_FUNCTION = "layouts are searched of a function and its arguments; this is a module whose shardings are fixed"
OF_PMAP = "jax.pmap fixes the layout; pass a function or a jax.jit of one"
OF_A_LIBRARY = (
    "layouts are searched of functions and jax.jit objects; pass the function that the library's jit wraps, with "
    "arrays alone in its arguments (equinox: arrays, static = eqx.partition(model, eqx.is_array), and in the function "
    "eqx.combine(arrays, static))"
)
JITTED_WITH_SHARDINGS = (
    "the function is jitted with in_shardings or out_shardings and does not show what it wraps; pass the function "
    "without them"
)


def nothing_to_split(devices: int) -> str:
    """No size that any axis of a mesh divides."""
    return (
        f"no dimension of the arguments is divisible by {devices:,} devices or a factor of them, so there is nothing "
        f"to split; pad one, such as the batch, to a multiple of {devices:,}"
    )


def one_device(target: str) -> str:
    """A target of one device."""
    here = "this kernel" if target == "local" else target
    return f"{here} has one device, so there is only one layout; name a larger target, such as v5e:2x4 or cpu:8"


def devices_of_mesh(mesh: str, devices: int, target: str, room: int) -> str:
    """A mesh that is not as large as the target."""
    return f"the mesh {mesh} has {devices:,} devices, but {target} has {room:,}; the sizes must multiply to {room:,}"


def no_such_axis(name: str, mesh: str) -> str:
    """An axis that `keep` or a constraint of the function names and the mesh has not."""
    return f"{name!r} is named by keep or by the function's own constraints, but the mesh {mesh} has no such axis"


def no_such_argument(name: str, names: Sequence[str]) -> str:
    """An argument that the call has not."""
    return f"keep is for {name!r}, but the call has no such argument; there are {', '.join(names) or 'none'}"


def no_spec(name: str, value: str) -> str:
    """What is no PartitionSpec."""
    return f"keep of {name}: {value} is not a PartitionSpec; write P('data', None)"


def too_many_entries(name: str, spec: str, rank: int) -> str:
    """A spec of more entries than the array has dimensions."""
    return f"keep of {name}: {spec} has more entries than the array has dimensions, {rank}"


def not_divided(path: str, axis: int, size: int, parts: int) -> str:
    """A kept spec that does not divide its array."""
    return f"keep of {path}: its dimension {axis} has size {size:,}, which {parts:,} does not divide"


def names_explicit_axes(reason: str) -> str:
    """A function that names axes in its body which only a mesh of explicit axes has."""
    return (
        "the function is written for the explicit axes of one mesh, and other layouts are compiled with automatic "
        f"axes, for which JAX says: {reason}; search it without the reshard and out_sharding in it, on arguments that "
        "are not sharded"
    )


def all_lost(reason: str) -> str:
    """No layout could be scored."""
    return f"no layout could be scored: {reason}"
