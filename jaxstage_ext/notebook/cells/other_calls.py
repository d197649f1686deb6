"""The calls of a cell that are not on its last line: they are run as Python, and it is said how to inspect them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells.cell import Cell

_LONGEST = 60


def tell(ran: Cell, inspected: Sequence[ast.expr], space: Mapping[str, Any]) -> None:
    """Print which calls of the cell's own functions were run and not inspected, and how to inspect them."""
    others = [call for call in _own(ran) if calling.is_function(space.get(call.func.id))]  # type: ignore[attr-defined]
    if not others:
        return
    first = others[0]
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    line = "; ".join(map(_text, [first, *inspected]))
    print(
        f"Only the last line is inspected: {_text(first)} in line {first.lineno}{more} was run as Python. "
        f"To inspect several calls, put them on it: {line}"
    )


def hint(ran: Cell, name: str) -> str:
    """What to do where a function's arguments are unknown, but the cell calls it; "" where it does not."""
    call = next((call for call in _own(ran) if call.func.id == name), None)  # type: ignore[attr-defined]
    if call is None:
        return ""
    end = f"to inspect it, end the cell with {_text(call)}"
    return f"line {call.lineno} calls {name} within a statement, which was run; {end}"


def _own(ran: Cell) -> Iterator[ast.Call]:
    """The calls of functions that the cell defines, by their names."""
    return (call for call in ran.others if isinstance(call.func, ast.Name) and call.func.id in ran.functions)


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
