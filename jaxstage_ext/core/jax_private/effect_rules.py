"""JAX's effects: what each does not work with, and which Python function a callback calls."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from jax._src import callback as _callback
from jax._src import core as _core
from jax._src import debugging as _debugging
from jax._src import effects as _effects


def is_ordered(effect: Any) -> bool:
    """Whether programs run effects of this type one after the other."""
    return _effects.ordered_effects.contains(effect)


def name(effect: Any) -> str:
    """`IO`, `OrderedDebug`; never an address."""
    return type(effect).__name__.removesuffix("Effect")


def refusing_places(effect: Any) -> list[str]:
    """What JAX refuses to put an effect into, by the lists that it keeps of the effects it allows there."""
    in_loops = _effects.control_flow_allowed_effects.contains(effect)
    is_shardable = not is_ordered(effect) or _effects.shardable_ordered_effects.contains(effect)
    return ([] if is_shardable else ["several devices"]) + ([] if in_loops else ["loops and cond"])


def on_host(space: Any) -> bool:
    """Whether a memory space, or the memory of a sharding, is the host's."""
    return space is _core.MemorySpace.Host or "host" in str(getattr(space, "memory_kind", ""))


def compute_type(eqn: Any) -> str:
    """What `compute_on` names for an equation, `device_host` for example; "" without."""
    return str(eqn.params.get("compute_type") or getattr(eqn.ctx, "compute_type", None) or "")


_KINDS = {
    _callback.pure_callback_p: "pure_callback",
    _callback.io_callback_p: "io_callback",
    _debugging.debug_callback_p: "debug_callback",
    _debugging.debug_print_p: "debug_print",
}


def callback_kind(eqn: Any) -> str:
    """`pure_callback`, `io_callback`, `debug_callback` or `debug_print`; "" where an equation calls no Python."""
    return _KINDS.get(eqn.primitive, "")


def called_by(eqn: Any) -> str:
    """The name of the Python function that a callback calls, or the text that it prints; "" where that is unknown."""
    if "fmt" in eqn.params:
        return repr(eqn.params["fmt"])
    function = called_function(eqn)
    found = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    return str(found)


def called_function(eqn: Any) -> Any:
    """The Python function that a callback calls; None where that is unknown."""
    function = eqn.params.get("callback")
    function = getattr(function, "callback_func", None) or closed_over_callback(function) or function
    return getattr(function, "func", function)


def closed_over_callback(function: Any) -> Any:
    """The function that JAX's own, around a callback, calls; None of another function."""
    names = function.__code__.co_freevars if type(function) is FunctionType else ()
    if "callback" not in names:
        return None
    inner = function.__closure__[names.index("callback")].cell_contents
    return closed_over_callback(inner) or inner
