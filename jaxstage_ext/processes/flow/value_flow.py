"""Which lines of a source text take a value that each process may have its own of: read, never run.

By names, as they are assigned in a file and in the cells that ran before it: a value that comes by an object's
attribute or another file is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from jaxstage_ext.processes.flow.name_scopes import NameScopes, Scoped
from jaxstage_ext.processes.flow.value_origin import Suspect, ValueOrigin, origin_of_attribute, origin_of_call

_ROUNDS = 4
_GLOBAL = (
    "device_put",
    "make_array_from_process_local_data",
    "make_array_from_callback",
    "host_local_array_to_global_array",
)
_ORDERLESS, _SORTED = frozenset({"sorted", "len", "sum", "min", "max"}), frozenset({"sorted"})
"""What gives the same for a set in any order, and for a name that may hold one of its elements."""
_MOST_CHARACTERS = 2_000_000


class Made(NamedTuple):
    """A value of such an origin, and where it is made: a line, from 1, of the file, or of a cell before it."""

    origin: ValueOrigin
    line: int
    cell: str = ""
    code: str = ""


Names = tuple[tuple[str, tuple[Made, ...]], ...]
"""Names that hold such values outside a file, such as those of the cells before it."""


@lru_cache(maxsize=512)
def value_flow(source: str, outside: Names = ()) -> ValueFlow:
    """The flow in one file. A text that is not Python has none."""
    try:
        tree = ast.parse(source) if len(source) < _MOST_CHARACTERS else ast.parse("")
    except (SyntaxError, ValueError, RecursionError):
        tree = ast.parse("")
    return ValueFlow(tree, source.split("\n"), outside)


@lru_cache(maxsize=16)
def names_after(cells: tuple[tuple[str, str], ...]) -> Names:
    """The names that hold such values once cells have run: each is (label, source), in the order of their runs."""
    held: dict[str, tuple[Made, ...]] = {}
    for label, source in cells:
        flow = value_flow(source, tuple(held.items()))
        for name, made in flow.exported().items():
            held[name] = tuple(one if one.cell else one._replace(cell=label) for one in made)
            if not made:
                del held[name]
    return tuple(held.items())


class ValueFlow:
    """The names of one file that hold such values, by the function that they are local to."""

    def __init__(self, tree: ast.Module, lines: list[str], outside: Names = ()) -> None:
        self._tree, self._lines, self._outside = tree, lines, dict(outside)
        scopes = NameScopes(tree)
        self._parent, self._scope, self._bound = scopes.parent, scopes.of, scopes.bound
        self._held: dict[tuple[ast.AST, str], dict[ValueOrigin, Made]] = {}
        self._functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self._settle(by_arguments=False)  # what a function returns does not depend on who else calls it
        self._settle(by_arguments=True)

    def _settle(self, by_arguments: bool) -> None:
        for _ in range(_ROUNDS):
            before = sum(map(len, self._held.values()))
            for node in ast.walk(self._tree):
                self._follow(node, by_arguments)
            if sum(map(len, self._held.values())) == before:
                return

    def suspects(self, line: int) -> list[Suspect]:
        """What the statement at a line takes (from 1), and what decides whether it runs; the best evidence first."""
        found: dict[Suspect, None] = {}
        for node in self._statements(line):
            found |= dict.fromkeys(self._suspect(made, False) for made in self._made(node))
            found |= dict.fromkeys(self._suspect(made, True) for made in self._deciding(node))
        order = list(ValueOrigin)
        return sorted(found, key=lambda suspect: (order.index(suspect.origin), not suspect.decides))

    @property
    def has_sets(self) -> bool:
        """Whether anything is gone through here whose order differs by process, such as a set."""
        return any(made.origin is ValueOrigin.SET_ORDER for node in ast.walk(self._tree) for made in self._own(node))

    def exported(self) -> dict[str, tuple[Made, ...]]:
        """The names that the file itself gives values, with those of such an origin that each holds."""
        names = sorted({name for scope, name in {*self._bound, *self._held} if scope is self._tree})
        return {name: self._known(name, self._tree) for name in names}

    def _suspect(self, made: Made, decides: bool) -> Suspect:
        return Suspect(made.origin, made.line, made.code, decides, made.cell)

    def _made_at(self, origin: ValueOrigin, line: int) -> Made:
        return Made(origin, line, "", self._lines[line - 1].strip() if line <= len(self._lines) else "")

    def _statements(self, line: int) -> Iterator[ast.AST]:
        """The innermost statements that a line is of, or that begin there."""
        inner: ast.stmt | None = None
        for node in ast.walk(self._tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
                inner = node
        if inner is None:
            return
        if isinstance(inner, ast.If | ast.While):
            yield inner.test
        elif isinstance(inner, ast.For):
            yield inner.iter
        elif not isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield inner

    def _deciding(self, node: ast.AST) -> Iterator[Made]:
        """The tests around a node, up to its function."""
        inner: ast.AST = node
        while (outer := self._parent.get(inner)) is not None and not isinstance(outer, Scoped):
            if isinstance(outer, ast.If | ast.While | ast.IfExp) and inner is not outer.test:
                yield from self._made(outer.test)
            elif isinstance(outer, ast.For) and inner is not outer.iter:
                yield from self._made(outer.iter)
            inner = outer

    def _made(self, node: ast.AST) -> Iterator[Made]:
        """The origins of all that an expression or a statement takes."""
        for part in _parts(node):
            yield from self._own(part)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                yield from self._of_name(part)

    def _own(self, part: ast.AST) -> Iterator[Made]:
        """The origin that an expression itself is."""
        if isinstance(part, ast.Call):
            origin = origin_of_call(_dotted(part.func))
            if origin is not None and not self._is_harmless(part, origin):
                yield self._made_at(origin, part.lineno)
        elif isinstance(part, ast.Set | ast.SetComp) and not self._is_inside(part, _ORDERLESS):
            yield self._made_at(ValueOrigin.SET_ORDER, part.lineno)
        elif isinstance(part, ast.Attribute) and (origin := origin_of_attribute(part.attr)) is not None:
            yield self._made_at(origin, part.lineno)

    def _is_harmless(self, call: ast.Call, origin: ValueOrigin) -> bool:
        """Whether a generator has a seed, or a set is only sorted or counted."""
        if origin is ValueOrigin.SET_ORDER:
            return self._is_inside(call, _ORDERLESS)
        return _dotted(call.func).endswith("default_rng") and bool(call.args)

    def _is_inside(self, node: ast.AST, functions: frozenset[str]) -> bool:
        """Whether one of these functions is called with a node."""
        outer = self._parent.get(node)
        return isinstance(outer, ast.Call) and _dotted(outer.func) in functions

    def _of_name(self, name: ast.Name) -> tuple[Made, ...]:
        held = self._known(name.id, self._scope(name))
        is_sorted = self._is_inside(name, _SORTED) and {one.origin for one in held} == {ValueOrigin.SET_ORDER}
        return () if is_sorted else held

    def _known(self, name: str, scope: ast.AST) -> tuple[Made, ...]:
        """What a name holds: in the innermost function that gives it a value, in the file, or outside."""
        while True:
            held = tuple(self._held.get((scope, name), {}).values())
            if (scope, name) in self._bound or (held and scope is not self._tree):
                return held
            if scope is self._tree:
                return held + self._outside.get(name, ())
            scope = self._scope(scope)

    def _follow(self, node: ast.AST, by_arguments: bool) -> None:
        """Remember the names that a statement gives such values."""
        if isinstance(node, ast.Assign):
            self._hold(node, node.targets, node.value)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._hold(node, [node.target], node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            self._hold(node, [node.target], node.iter)
        elif isinstance(node, ast.Return) and node.value is not None and not by_arguments:
            self._hold_returned(node, node.value)
        elif isinstance(node, ast.Call) and by_arguments:
            self._hold_arguments(node)

    def _hold(self, node: ast.AST, targets: list[ast.expr], value: ast.expr) -> None:
        made = [*self._made(value), *(self._deciding(node) if isinstance(node, ast.Assign) else ())]
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and made:
                    self._add(self._scope(node), name.id, made)

    def _hold_returned(self, node: ast.Return, value: ast.expr) -> None:
        function = self._scope(node)
        if isinstance(function, ast.FunctionDef):
            self._add(self._scope(function), function.name, list(self._made(value)))

    def _hold_arguments(self, call: ast.Call) -> None:
        function = self._functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or _is_jitted(function):
            return
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        given = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords if word.arg)]
        for name, value in given:
            self._add(function, str(name), list(self._made(value)))

    def _add(self, scope: ast.AST, name: str, made: list[Made]) -> None:
        if made:
            held = self._held.setdefault((scope, name), {})
            for one in made:
                held.setdefault(one.origin, one)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it, without what makes arrays of all processes: no program depends on their values."""
    if isinstance(node, ast.Call) and _dotted(node.func).endswith(_GLOBAL):
        return
    yield node
    for inner in ast.iter_child_nodes(node):
        yield from _parts(inner)


def _is_jitted(function: ast.FunctionDef) -> bool:
    """Whether its arguments are traced, so that its program does not depend on their values."""
    texts = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any("jit" in text and "static" not in text for text in texts)


def _dotted(node: ast.AST) -> str:
    """The name of an expression such as `np.random.rand`; what is called on the way is left out."""
    if isinstance(node, ast.Attribute):
        outer = _dotted(node.value)
        return f"{outer}.{node.attr}" if outer else node.attr
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    return node.id if isinstance(node, ast.Name) else ""
