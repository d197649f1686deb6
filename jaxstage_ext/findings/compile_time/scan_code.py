"""A `for` loop over layers written as `jax.lax.scan`, where its body is one assignment."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

_LONGEST = 120


def edits(lines: Sequence[str], line: int) -> Mapping[int, Sequence[str]]:
    """The lines to write in place of the loop at a line, by number; empty where that takes a person."""
    try:
        nodes = ast.walk(ast.parse("\n".join(lines)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    loop = next((node for node in nodes if isinstance(node, ast.For) and node.lineno == line), None)
    if loop is None or loop.orelse or len(loop.body) != 1 or loop.end_lineno is None:
        return {}
    [step] = loop.body
    if not (isinstance(step, ast.Assign) and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name)):
        return {}
    carry, layers = step.targets[0].id, loop.iter
    if not isinstance(loop.target, ast.Name) or not isinstance(layers, ast.Name | ast.Attribute | ast.Subscript):
        return {}
    read = {node.id for node in ast.walk(step.value) if isinstance(node, ast.Name)}
    if not {carry, loop.target.id} <= read:
        return {}
    indent, layer, body = " " * loop.col_offset, loop.target.id, ast.unparse(step.value)
    written = (
        f"{indent}stacked = jax.tree.map(lambda *leaves: jax.numpy.stack(leaves), *{ast.unparse(layers)})",
        f"{indent}{carry}, _ = jax.lax.scan(lambda {carry}, {layer}: ({body}, None), {carry}, stacked)",
    )
    if any(len(each) > _LONGEST for each in written):
        return {}
    return {line: written, **dict.fromkeys(range(line + 1, loop.end_lineno + 1), ())}
