"""The dtypes that a source line computes, by the jaxpr: what the author wrote, before XLA."""

from __future__ import annotations

from collections.abc import Iterator

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import equations
from jaxstage_ext.testing import assertion_wording as wording


def dtypes_by_line(program: Program) -> dict[str, set[str]]:
    """The dtypes of the results of each line's equations. Raises Unavailable where JAX traced nothing."""
    found: dict[str, set[str]] = {}
    for row in equations(program).table:
        if row["line"]:
            found.setdefault(row["line"], set()).add(row["dtype"])
    return found


def dtypes_of(program: Program, line: str | int) -> frozenset[str]:
    """Those of one line: its number in the only file, `file.py:12`, or a piece of its text, which survives edits.

    Raises LookupError where no equation is of it.
    """
    by_line = dtypes_by_line(program)
    wanted = set(_labels(program, str(line))) if not str(line).isdigit() else set()
    found = {label for label in by_line if label in wanted or _is_numbered(label, str(line))}
    if not found:
        raise LookupError(wording.no_line(line, sorted(by_line)))
    return frozenset().union(*(by_line[label] for label in found))


def _is_numbered(label: str, line: str) -> bool:
    return label == line or label.endswith((f":{line}", f"/{line}"))


def _labels(program: Program, text: str) -> Iterator[str]:
    """The labels of the source lines that hold a text."""
    python = program.documents.get("python")
    if python is None or python.file is None or python.number is None or not text.strip():
        return
    for shown, file, number in zip(python.lines, python.file.tolist(), python.number.tolist(), strict=True):
        if text in shown and number > 0:
            yield f"{python.frames.files[file].label}:{number}"
