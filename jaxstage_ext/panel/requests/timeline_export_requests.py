"""Files of a timeline for the browser to save: the shown table, a picture of the view."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.requests import timeline_table_requests
from jaxstage_ext.panel.requests.timeline_params import timeline_of, window
from jaxstage_ext.report.table import plain
from jaxstage_ext.views.lanes_svg import lanes_svg

LARGEST = 64_000_000
"""Bytes of a file that are sent."""
Made = tuple[str, str]
"""The text of a file, and its name's ending."""


def _csv(programs: Programs, params: Params) -> Made:
    """The shown table, of the range where there is one, with units in the head and nothing for what is unknown."""
    name = given.text(params, "table")
    name = "lines" if name == "compare" else name
    timeline, part = timeline_of(programs, params), window(params)
    table = timeline_table_requests.read(given.program(programs, params), timeline, name, part)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([f"{title} ({column.unit})" if column.unit else title for title, column in table.columns.items()])
    for row in zip(*(column.values for column in table.columns.values()), strict=True):
        writer.writerow([_cell(plain(value)) for value in row])
    return file.getvalue(), f"{name}.csv"


def _cell(value: object) -> object:
    """A cell that a spreadsheet takes as text: a name that begins as a formula does is quoted."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def _svg(programs: Programs, params: Params) -> Made:
    return lanes_svg(timeline_of(programs, params), window(params)), "svg"


_MAKERS: dict[str, tuple[Callable[[Programs, Params], Made], str]] = {
    "csv": (_csv, "text/csv"),
    "svg": (_svg, "image/svg+xml"),
}


def _get_file(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """One file, packed. Raises BadRequest where it would be too large to send."""
    name = given.text(params, "format")
    if name not in _MAKERS:
        raise BadRequest(f"there is no format {quoted(name)}; there is {', '.join(_MAKERS)}")
    make, kind = _MAKERS[name]
    progress("making the file")
    text, ending = make(programs, params)
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST:
        raise BadRequest(f"the file has {len(data):,} bytes, too many to send: select a range, or save it in Python")
    return {"name": f"timeline.{ending}", "type": kind, "bytes": len(data)}, [pack(data)]


METHODS: dict[str, Method] = {"timeline export": jobs.slow(_get_file)}
