"""What each call of a jitted function runs of Python's: pytree nodes of its arguments and results, and hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from jaxstage_ext.core.jax_private import python_nodes, tracing
from jaxstage_ext.core.jax_private.python_nodes import PythonNodes
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.head.call_arguments import call_arguments
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.bounded_repr import type_name


@dataclass(frozen=True)
class HashedStatic:
    """A static argument whose type has a hash of its own."""

    name: str
    type: str
    seconds: float
    """Of one hash, on this machine."""


@dataclass(frozen=True)
class PythonWork:
    """What of a call's Python can be counted and timed without running the program."""

    nodes: PythonNodes
    arguments: tuple[str, ...]
    """Those that have such nodes."""
    hashed: tuple[HashedStatic, ...]

    @property
    def seconds(self) -> float:
        """Seconds that flattening the arguments and hashing the static ones take on this machine."""
        return self.nodes.seconds + sum(one.seconds for one in self.hashed)


@fact
def python_work(program: Program) -> PythonWork | None:
    """The Python in each call; None of what is not jitted by `jax.jit` itself, or was not traced."""
    if not python_nodes.is_jitted(program.call.fn) or program.jax_traced is None:
        return None
    arguments = call_arguments(program)
    passed = {argument.name: argument.value for argument in arguments if not argument.is_constant}
    nodes = python_nodes.of_call(tuple(passed.values()), program.jax_traced.out_tree)
    names = [name for name, value in passed.items() if python_nodes.has_any(value)] if nodes.flattened else []
    return PythonWork(nodes, tuple(names), tuple(_hashed(program)))


def _hashed(program: Program) -> Iterator[HashedStatic]:
    values = {id(argument.value): argument.name for argument in call_arguments(program)}
    for value in _static_values(program):
        if isinstance(type(value).__hash__, FunctionType):
            name = values.get(id(value), "")
            yield HashedStatic(name, type_name(value), python_nodes.hash_seconds(value))


def _static_values(program: Program) -> list[Any]:
    function, call = program.staged.function, program.call
    numbers, names = tracing.static_arguments(call.fn if function is None else function)
    given = len(call.args)
    by_place = [call.args[number % given] for number in numbers if -given <= number < given]
    return [*by_place, *(call.kwargs[name] for name in names if name in call.kwargs)]
