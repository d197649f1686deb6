"""Why layouts of a program cannot be searched, in one sentence each, with what to do."""

from __future__ import annotations

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


def fails_unsharded(stage: str, message: str) -> str:
    """What the function raises when nothing is sharded."""
    first = (message.strip().splitlines() or ["no reason given"])[0][:300]
    return f"{stage} fails when the arguments have no shardings, as the search stages it: {first}"


def devices_of_mesh(mesh: str, devices: int, target: str, room: int) -> str:
    """A mesh that is not as large as the target."""
    return f"the mesh {mesh} has {devices:,} devices, but {target} has {room:,}; the sizes must multiply to {room:,}"
