"""Traces: those of wrappers that only lower, what `jax.jit` was given, and the mesh around one."""

from __future__ import annotations

import copy
import inspect
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax._src import core as _core
from jax._src import stages as _stages
from jax._src.interpreters import partial_eval as _pe

_capturing = threading.Lock()


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


def traces_by_function() -> Counter[int]:
    """How many jaxprs JAX keeps of each function, by the function's id."""
    keys: list[Any] = getattr(_pe.trace_to_jaxpr, "cache_keys", list)()
    return Counter(id(function) for key in keys if (function := key[0]()) is not None)


def pmap_out_axes(fn: Any) -> tuple[Any, ...]:
    """The mapped axis of each result, as `out_axes` has them."""
    return tuple(_given_to_pmap(fn).get("out_axes_flat", ()))


def static_arguments(fn: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """(argnums, argnames) that a `jax.jit` or `jax.pmap` object treats as static."""
    if is_pmap(fn):
        return _static_of_pmap(fn), ()
    info = _jit_info(fn)
    return (tuple(info.static_argnums), tuple(info.static_argnames)) if info is not None else ((), ())


def jit_options(fn: Any) -> dict[str, Any]:
    """The static and donated arguments that `jax.jit` was given, as its own options; none for anything else."""
    info = _jit_info(fn)
    names = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
    return {name: value for name in names if info is not None and (value := getattr(info, name))}


def _static_of_pmap(fn: Any) -> tuple[int, ...]:
    """`static_broadcasted_argnums`, which pmap keeps in what its `lower` calls."""
    return tuple(_given_to_pmap(fn).get("static_broadcasted_tuple", ()))


def _given_to_pmap(fn: Any) -> Mapping[str, Any]:
    try:
        infer = inspect.getclosurevars(fn.lower).nonlocals["infer_params"]
        return inspect.getclosurevars(infer).nonlocals
    except Exception:
        return {}


def pmap_axes(fn: Any, arguments: int) -> tuple[list[Any], int | None]:
    """The mapped axis of each positional argument, as `in_axes` has it, and the devices given to pmap, if any."""
    given = _given_to_pmap(fn)
    axes, devices = given.get("in_axes", 0), given.get("devices")
    of_each = list(axes) if isinstance(axes, tuple | list) else [axes] * arguments
    return of_each, None if devices is None else len(devices)


def _jit_info(fn: Any) -> Any:
    """What `jax.jit` was given; None for anything else."""
    try:
        info = fn._jit_info
        return info if isinstance(info.static_argnums, tuple) and isinstance(info.static_argnames, tuple) else None
    except Exception:
        return None


def given_shardings(fn: Any) -> tuple[Any, ...]:
    """The shardings that a `jax.jit` object was made with, those of its arguments first."""
    info = _jit_info(fn)
    return () if info is None else (*info.in_shardings_leaves, *info.out_shardings_leaves)


def own_shardings(fn: Any) -> tuple[str, ...]:
    """Which of "in_shardings", "out_shardings" a `jax.jit` object was made with."""
    info = _jit_info(fn)
    if info is None:
        return ()
    given = (("in_shardings", info.in_shardings_leaves), ("out_shardings", info.out_shardings_leaves))
    stated = (jax.sharding.Sharding, jax.sharding.PartitionSpec)
    return tuple(name for name, leaves in given if any(isinstance(leaf, stated) for leaf in leaves))


def with_context_mesh(traced: Any, mesh: Any) -> Any:
    """The trace as if `jax.set_mesh` had set this AbstractMesh around it; JAX itself does so for explicit axes only."""
    made = copy.copy(traced)
    made._params = traced._params | {"ctx_mesh": mesh}
    made._lojax = None
    return made


def is_pmap(fn: Any) -> bool:
    """Whether it is what `jax.pmap` gives."""
    try:
        lower = fn.lower
        return bool(lower.__qualname__.startswith("pmap.") and lower.__module__.startswith("jax."))
    except Exception:
        return False


def is_tracing() -> bool:
    """Whether JAX traces a function in this thread."""
    return not _core.trace_state_clean()


def jitted_type() -> type:
    """The type of what `jax.jit` gives."""
    return type(jax.jit(is_tracing))
