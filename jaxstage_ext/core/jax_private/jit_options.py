"""The private names of JAX that hold the options of `jax.jit`: PjitInfo.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from typing import Any

_WHOLE = (
    "static_argnums",
    "static_argnames",
    "donate_argnums",
    "donate_argnames",
    "device",
    "backend",
    "keep_unused",
    "inline",
)
_TREES = ("in_shardings", "out_shardings", "in_layouts", "out_layouts")


def options(info: Any) -> dict[str, Any]:
    """The options by the names that `jax.jit` has for them; pytrees of them as (leaves, treedef). Empty without one."""
    if info is None:
        return {}
    whole = {name: getattr(info, name) for name in _WHOLE if hasattr(info, name)}
    trees = {
        name: (getattr(info, f"{name}_leaves"), getattr(info, f"{name}_treedef"))
        for name in _TREES
        if hasattr(info, f"{name}_leaves")
    }
    return whole | trees | {"compiler_options": dict(getattr(info, "compiler_options_kvs", ()))}


def static_positions(info: Any) -> tuple[int, ...]:
    """The positions of the static arguments, however `jax.jit` was told of them; negative ones count from the last."""
    return tuple(getattr(info, "static_argnums", ()))


def static_parameters(jitted: Any, parameters: tuple[str, ...]) -> frozenset[str]:
    """The names of a jitted function's static parameters; none of another object."""
    info = getattr(jitted, "_jit_info", None)
    positions = (at for at in static_positions(info) if -len(parameters) <= at < len(parameters))
    return frozenset(getattr(info, "static_argnames", ())) | {parameters[at] for at in positions}
