"""Why layouts of a program cannot be searched, in one sentence each, with what to do."""

from __future__ import annotations

from collections.abc import Sequence

NOT_A_FUNCTION = "layouts are searched of a function and its arguments; this is a module whose shardings are fixed"
OF_PMAP = "jax.pmap fixes the layout; pass a function or a jax.jit of one"
OF_A_LIBRARY = "layouts are searched of functions and jax.jit objects; pass the function that the library's jit wraps"
JITTED_WITH_SHARDINGS = (
    "the function is jitted with in_shardings or out_shardings, which fix its layout; pass it without them, and give "
    "your own layout as mesh and in_specs to have it compared"
)
NOTHING_TO_SPLIT = "no dimension of the arguments is divisible by a number of devices; there is nothing to split"


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


def all_lost(reason: str) -> str:
    """No layout could be scored."""
    return f"no layout could be scored: {reason}"
