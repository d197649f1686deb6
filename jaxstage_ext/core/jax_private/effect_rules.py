"""JAX's effects: what each does not work with, and which Python function a callback calls."""

from __future__ import annotations

from typing import Any

from jax._src import callback as _callback
from jax._src import core as _core
from jax._src import debugging as _debugging
from jax._src import effects as _effects
from jax._src.state.types import AbstractRef as _AbstractRef
from jax._src.state.types import RefEffect as _RefEffect


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


def is_of_ref(var: Any) -> bool:
    """Whether a variable of a jaxpr is a mutable array."""
    return isinstance(var.aval, _AbstractRef)


def effects_on(var: Any, effects: Any) -> list[str]:
    """The names of the effects that a jaxpr has on a variable of its own: Read, Write, Accum."""
    own = {name(effect) for effect in effects if isinstance(effect, _RefEffect) and effect.input is var}
    return sorted(own)


def compute_type(eqn: Any) -> str:
    """What `compute_on` names for an equation, `device_host` for example; "" without."""
    return str(eqn.params.get("compute_type") or getattr(eqn.ctx, "compute_type", None) or "")


def callback_kind(eqn: Any) -> str:
    """`pure_callback`, `io_callback`, `debug_callback` or `debug_print`; "" where an equation calls no Python."""
    kinds = {
        _callback.pure_callback_p: "pure_callback",
        _callback.io_callback_p: "io_callback",
        _debugging.debug_callback_p: "debug_callback",
        _debugging.debug_print_p: "debug_print",
    }
    return kinds.get(eqn.primitive, "")


def called_by(eqn: Any) -> str:
    """The name of the Python function that a callback calls, or the text that it prints; "" where that is unknown."""
    if "fmt" in eqn.params:
        return repr(eqn.params["fmt"])
    function = eqn.params.get("callback")
    function = getattr(function, "callback_func", None) or _closed_over(function) or function
    function = getattr(function, "func", function)
    found = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    return str(found)


def _closed_over(function: Any) -> Any:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if "callback" not in names:
        return None
    cell = function.__closure__[names.index("callback")]
    inner = cell.cell_contents
    return _closed_over(inner) or inner
