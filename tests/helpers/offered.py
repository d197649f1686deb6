"""Everything that an Inspection offers, asked for one after another: forms, tables, figures, documents, requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jaxstage_ext import Inspection
from jaxstage_ext.panel import panel_state
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import page
from jaxstage_ext.report.document import Document
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

TABLES = ("answers", "cost", "memory", "shardings", "collectives", "dtypes", "passes", "kernels")
FIGURES = ("roofline", "memory_figure", "collectives_figure", "dtypes_figure")
PLAIN = ("target", "call", "name", "stage", "seconds", "elapsed", "traced", "lowered", "compiled", "error", "coverage")
LONGEST_MESSAGE = 600
PARAMETERS: Mapping[str, Any] = {
    "call": 0,
    "doc": "hlo",
    "start": 0,
    "end": 9,
    "query": "a",
    "name": "add",
    "row": 0,
    "library": "*",
    "question": "bound",
    "lane": "cost",
    "group": "line",
    "measure": "flops",
    "instruction": "add",
    "policy": "dots_saveable",
    "of": "cost",
}


def offered(inspection: Inspection) -> Iterator[tuple[str, Callable[[], object]]]:
    """What can be asked of an Inspection, by name."""
    programs = [one.program for one in inspection.targets.values()]
    yield "text", lambda: panel_text(programs)
    yield "narrow text", lambda: panel_text(programs, 50)
    yield "repr", lambda: repr(inspection)
    yield "html", lambda: panel_html(programs).encode("utf-8", "replace")
    yield "page", lambda: page.page_html(programs)
    yield "state", lambda: json.dumps(panel_state.state_of(programs, False), allow_nan=False)
    yield "saved", lambda: _saved_alike(inspection)
    for one in inspection.targets.values():
        yield from _of_target(one)
    for number in range(len(programs)):
        for method in dispatch.methods().keys() - {"script"}:
            yield f"request {method}", lambda m=method, n=number: _answered(programs, m, PARAMETERS | {"call": n})


def _of_target(inspection: Inspection) -> Iterator[tuple[str, Callable[[], object]]]:
    for name in (*PLAIN, *TABLES, "frames"):
        yield name, lambda n=name: str(getattr(inspection, n))
    for name in (*FIGURES, "row", "summary", "execute", "worker_log"):
        yield name, getattr(inspection, name)
    yield "compare", lambda: _every_form(inspection.compare())
    frames = inspection.frames
    yield "counting", lambda: (frames.counting(["*"]).in_library, frames.inside("*"), frames.in_library)
    for kind, document in inspection.documents.items():
        yield f"document {kind}", lambda d=document: _read(d)


def _every_form(table: Any) -> None:
    str(table), table._repr_html_(), table.to_pandas(), list(table.rows()), json.dumps(table.to_dict(), allow_nan=False)
    for name in table.columns:
        table.sorted_by(name)


def _saved_alike(inspection: Inspection) -> None:
    text = inspection.to_json()
    assert Inspection.from_json(text).to_json() == text, "it is not saved as it was opened"


def _read(document: Document) -> None:
    assert len(document) == len(document.lines)
    step = max(len(document) // 20, 1)
    str(document.coverage)
    for line in range(1, len(document) + 1, step):
        if (span := document.source_of(line)) is not None:
            str(span)
            document.lines_from(span.file, span.line)
        document.stack_of(line)


def _answered(programs: Any, method: str, params: Mapping[str, Any]) -> None:
    try:
        result, buffers = dispatch.answer(programs, method, params)
    except BadRequest as error:
        assert not str(error).startswith(("TypeError", "KeyError", "IndexError", "AttributeError", "AssertionError"))
        raise
    json.dumps(result, allow_nan=False)
    assert all(isinstance(buffer, bytes) for buffer in buffers)


def failures(inspection: Inspection) -> list[str]:
    """What fails with anything but one line of ours."""
    return [failure for name, ask in offered(inspection) if (failure := _failure(name, ask))]


def _failure(name: str, ask: Callable[[], object]) -> str:
    try:
        ask()
    except ValueError as error:
        message = str(error)
        is_ours = "\n" not in message and len(message) <= LONGEST_MESSAGE and not isinstance(error, UnicodeError)
        return "" if is_ours else f"{name}: {type(error).__name__}: {message[:200]}"
    except Exception as error:
        return f"{name}: {type(error).__name__}: {error!s:.200}"
    return ""
