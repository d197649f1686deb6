"""The functions of a source text, and the names that each of them, and the text itself, gives values."""

from __future__ import annotations

import ast

Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NameScopes:
    """The scopes of a tree: its functions, and the tree itself.

    Attributes:
      parent: the node around each node.   bound: (scope, name) of every name that is given a value there.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self.parent = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.bound = {(self.of(node), name) for node in ast.walk(tree) for name in self._given(node)}

    def of(self, node: ast.AST) -> ast.AST:
        """The innermost function around a node; the tree where there is none."""
        outer = self.parent.get(node)
        while outer is not None and not isinstance(outer, Scoped):
            outer = self.parent.get(outer)
        return outer or self._tree

    def _given(self, node: ast.AST) -> list[str]:
        """The names that a node gives values, without those whose value it only changes."""
        if isinstance(node, ast.arg):
            return [node.arg]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [node.name]
        if isinstance(node, ast.alias):
            return [node.asname or node.name.partition(".")[0]]
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            return []
        return [] if isinstance(self.parent.get(node), ast.AugAssign) else [node.id]
