"""What calls of a jitted function do in Python: nodes that Python functions flatten, and what keeps off the fast path.

Dictionaries, lists, tuples, named tuples and what `register_dataclass` knows are taken apart in C++.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import jax
from jax._src import tree_util as _tree_util
from jax._src.interpreters import pxla as _pxla
from jax._src.state.types import RefEffect as _RefEffect

_IN_CPP = (dict, list, tuple, type(None))
_TIMED = 5


class PythonNodes(NamedTuple):
    """Nodes by the name of their type, and the seconds in which JAX flattens the arguments."""

    flattened: Counter[str]
    built: Counter[str]
    seconds: float
    as_leaves: float
    """The same of a list of their leaves."""


def of_call(arguments: Any, result_tree: Any) -> PythonNodes:
    """The nodes that a call with these arguments flattens, and that its results are built of, by Python functions."""
    flattened = _called(arguments)
    built = Counter(type_name for type_name in _custom(result_tree) if type_name)
    return PythonNodes(flattened, built, _seconds(arguments), _seconds(jax.tree_util.tree_leaves(arguments)))


def _called(arguments: Any) -> Counter[str]:
    """The types of what Python functions are called with while JAX flattens the arguments."""
    seen: Counter[str] = Counter()
    depth = 0

    def on_event(frame: FrameType, event: str, given: Any) -> None:
        nonlocal depth
        if event == "call":
            if depth == 0:
                code = frame.f_code
                node = frame.f_locals.get(code.co_varnames[0]) if code.co_varnames else None
                seen[type(node).__name__] += 1
            depth += 1
        elif event == "return" and depth:
            depth -= 1

    before, flatten = sys.getprofile(), _tree_util.default_registry.flatten
    sys.setprofile(on_event)
    try:
        flatten(arguments)
    finally:
        sys.setprofile(before)
    return seen


def has_any(tree: Any) -> bool:
    """Whether Python functions flatten a node of it."""
    return any(True for _ in _custom(jax.tree_util.tree_structure(tree)))


def _seconds(arguments: Any) -> float:
    times = []
    for _ in range(_TIMED):
        started = time.perf_counter()
        jax.tree_util.tree_leaves(arguments)
        times.append(time.perf_counter() - started)
    return min(times)


def _is_native(kind: type) -> bool:
    """Whether `jax.tree_util.register_dataclass` registered a type."""
    flatten = _tree_util._registry[kind].to_iter
    return flatten.__module__ == _tree_util.__name__ and "register_dataclass." in flatten.__qualname__


def _custom(tree: Any) -> Iterator[str]:
    """The types of the nodes of a tree that Python functions build."""
    todo = [tree]
    while todo:
        node = todo.pop()
        data = node.node_data()
        if data is not None:
            kind = data[0]
            is_named = isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
            if kind in _tree_util._registry and kind not in _IN_CPP and not is_named and not _is_native(kind):
                yield kind.__name__
            todo.extend(node.children())


_pxla_any: Any = _pxla  # untyped


def slow_causes(compiled: Any, effects: Any) -> list[str]:
    """Why every call goes through Python, in words; none where calls after the first stay in C++.

    By `pjit._get_fastpath_data` of jax 0.10.2 to 0.12.0.1.
    """
    executable = compiled._executable
    run = getattr(executable, "unsafe_call", None)
    if not isinstance(executable, _pxla_any.MeshExecutable) or not isinstance(run, _pxla_any.ExecuteReplicated):
        return ["JAX runs it in a way of its own"]
    causes = []
    if run.ordered_effects:
        causes.append("it has ordered effects, whose tokens Python threads through")
    if run.has_unordered_effects:
        causes.append("it has callbacks, such as jax.debug.print")
    if any(isinstance(effect, _RefEffect) for effect in effects):
        causes.append("it changes mutable arrays (jax.Ref)")
    if jax.config.jax_no_execution:
        causes.append("jax_no_execution is on")
    return causes


def is_jitted(fn: Any) -> bool:
    """Whether it is what `jax.jit` itself gives."""
    return type(fn).__name__ == "PjitFunction"


def hash_seconds(value: Any) -> float:
    """Seconds that hashing a static argument takes; 0 where it cannot be hashed."""
    times = []
    for _ in range(_TIMED):
        started = time.perf_counter()
        try:
            hash(value)
        except Exception:  # of the user's own method
            return 0.0
        times.append(time.perf_counter() - started)
    return min(times)
