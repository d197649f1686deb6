"""Which calls within an expression are those to stage, past what only looks at their results."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.call import has_method
from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells.statement_calls import outer_calls

_TRANSFORMS = ("jit", "pmap", "grad", "value_and_grad", "vmap", "checkpoint", "remat", "jacfwd", "jacrev", "hessian")
_LOOKS_AT_RESULTS = ("block_until_ready", "device_get")
_METHODS_OF_RESULTS = frozenset(
    ("block_until_ready", "item", "tolist", "mean", "sum", "max", "min", "any", "all", "astype", "copy", "reshape")
)
_OF_FUNCTIONS = ("jax", "functools", "equinox", "flax")
"""Packages whose functions, given one, mostly return one."""
Evaluate = Callable[[ast.expr], Awaitable[Any]]
"""The value of a name or an attribute in the user's namespace."""


@dataclass(frozen=True)
class CallsWithin:
    """Finds the calls whose functions can be staged, past what only looks at their results, such as `print`.

    Attributes:
      evaluate: looks up a function.
      defined: the functions that the cell defines.
      least: the lowest rank that counts: 3, a jitted or differentiated function of the user's or one of the cell's own;
        2, another of the user's; 1, any.
    """

    evaluate: Evaluate
    defined: frozenset[str]
    least: int

    async def of(self, value: ast.expr) -> list[ast.Call]:
        """The outermost such calls of the highest rank, in order."""
        ranks: list[tuple[int, ast.Call]] = []
        pending = list(outer_calls(value))[::-1]
        while pending:
            call = pending.pop()
            if (looked_at := await self._looked_at(call)) is not None:
                pending += [inner for part in looked_at for inner in outer_calls(part)][::-1]
            elif (rank := await self._rank(call)) >= self.least:
                ranks.append((rank, call))
        highest = max((rank for rank, _ in ranks), default=self.least)
        return [call for rank, call in ranks if rank == highest]

    async def _looked_at(self, call: ast.Call) -> list[ast.expr] | None:
        """The expressions whose results the call shows, converts or waits for; None where it computes."""
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _METHODS_OF_RESULTS and any(outer_calls(func.value)):
            return [func.value]
        fn = await self._function(func)
        if fn is None:
            return None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        module, name = str(getattr(fn, "__module__", "")), getattr(fn, "__name__", "")
        of_jax = module.startswith("jax") and name in _LOOKS_AT_RESULTS
        of_python = module == "builtins" and any(call for part in given for call in outer_calls(part))
        if of_jax or of_python or module.partition(".")[0] == "numpy" or calling.why_not(fn) is not None:
            return given
        return None

    async def _rank(self, call: ast.Call) -> int:
        """The rank of the call's function; 0 where it cannot be staged, or gives a function."""
        if isinstance(call.func, ast.Call):
            transform = await self._function(call.func.func)
            is_transform = getattr(transform, "__name__", "") in _TRANSFORMS
            return 3 if is_transform and str(getattr(transform, "__module__", "")).startswith("jax") else 0
        fn = await self._function(call.func)
        if fn is None or not callable(fn) or calling.makes_stage_object(fn) or await self._gives_function(fn, call):
            return 0
        is_own = isinstance(call.func, ast.Name) and call.func.id in self.defined
        if is_own or (_is_users(fn) and has_method(fn, "lower")) or calling.is_given(fn):
            return 3
        if _is_users(fn):
            return 2
        return 1 if hasattr(getattr(fn, "__func__", fn), "__code__") or has_method(fn, "lower") else 0

    async def _gives_function(self, fn: Any, call: ast.Call) -> bool:
        """Whether a library's function is given a function, as `jax.jit(f)` is."""
        if str(getattr(fn, "__module__", "")).partition(".")[0] not in _OF_FUNCTIONS:
            return False
        given = [await self._function(part) for part in call.args]
        return any(each is not None and calling.is_function(each) for each in given)

    async def _function(self, node: ast.expr) -> Any:
        """The value of a dotted name; None for anything else, which is not run, and for an unknown name."""
        part = node
        while isinstance(part, ast.Attribute):
            part = part.value
        if not isinstance(part, ast.Name):
            return None
        try:
            return await self.evaluate(node)
        except Exception:
            return None


def _is_users(fn: Any) -> bool:
    """Whether the code of a function, of what it wraps, or of a method is the user's."""
    while (inner := getattr(fn, "__wrapped__", None) or getattr(fn, "__func__", None)) is not None:
        fn = inner
    code = getattr(fn, "__code__", None)
    return code is not None and is_user(code.co_filename)
