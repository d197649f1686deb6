"""What `flax.nnx.jit` and `equinox.filter_jit` do to the modules that a call is given, in each call and in Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jax

from jaxstage_ext.core.call import Call

_TIMED = 5


def leading_graphs(call: Call) -> int:
    """How many of the first positional arguments are graphs of nnx, such as modules and optimizers."""
    nnx: Any = sys.modules["flax.nnx"]
    return next((at for at, value in enumerate(call.args) if not nnx.graph.is_graph_node(value)), len(call.args))


def has_graphs(call: Call) -> bool:
    """Whether any argument is, or holds, a graph of nnx."""
    is_graph: Any = sys.modules["flax.nnx"].graph.is_graph_node
    return any(map(is_graph, jax.tree_util.tree_leaves((call.args, dict(call.kwargs)), is_leaf=is_graph)))


def nnx_seconds(call: Call) -> float:
    """Seconds in which nnx takes the graphs apart and puts them together, which each call does at least once."""
    nnx: Any = sys.modules["flax.nnx"]
    whole = call.args, dict(call.kwargs)
    graph, state = nnx.split(whole)
    return _seconds(lambda: nnx.split(whole)) + _seconds(lambda: nnx.merge(graph, state))


def modules_of_equinox(call: Call) -> list[bool]:
    """Of each positional argument whether it is a module of equinox, or holds one."""
    module: Any = sys.modules["equinox"].Module

    def is_module(value: Any) -> bool:
        return isinstance(value, module)

    return [any(map(is_module, jax.tree_util.tree_leaves(value, is_leaf=is_module))) for value in call.args]


def equinox_seconds(call: Call) -> float:
    """Seconds in which Python flattens the modules, beyond those of a list of their arrays."""
    leaves = [leaf for leaf in jax.tree_util.tree_leaves(call.args) if isinstance(leaf, jax.Array)]
    modules = _seconds(lambda: jax.tree_util.tree_leaves(call.args))
    return modules - _seconds(lambda: jax.tree_util.tree_leaves(leaves))


def _seconds(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(_TIMED):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
