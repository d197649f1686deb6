"""Files of a timeline for the browser to save: traces for other viewers, the shown table, a picture of the view."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.requests import timeline_table_requests
from jaxstage_ext.panel.requests.forms.timeline_params import timeline_of, window
from jaxstage_ext.panel.wire_form import pack
from jaxstage_ext.profiling.chrome import chrome_writer, speedscope_writer
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import SECOND, Recording
from jaxstage_ext.report.table import plain
from jaxstage_ext.views.lanes_svg import lanes_svg

LARGEST = 64_000_000
"""Bytes of a file that are sent."""
MOST_EVENTS = 400_000
"""Events of a trace that is sent; `Timeline.to_chrome` writes any number."""
Made = tuple[bytes, str]
"""A file, and its name's ending."""
Writer = Callable[[Recording, OpPlaces, Path], None]


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
    return file.getvalue().encode("utf-8", "replace"), f"{name}.csv"


def _cell(value: object) -> object:
    """A cell that a spreadsheet takes as text: a name that begins as a formula does is quoted."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def _svg(programs: Programs, params: Params) -> Made:
    return lanes_svg(timeline_of(programs, params), window(params)).encode("utf-8", "replace"), "svg"


def _trace(programs: Programs, params: Params, write: Writer, ending: str) -> Made:
    """The events of the range, or all of them."""
    timeline, part = timeline_of(programs, params), window(params)
    timeline = timeline if part is None else timeline.between(part[0] / SECOND, part[1] / SECOND)
    if (count := len(timeline.columns)) > MOST_EVENTS:
        raise BadRequest(f"{count:,} events are too many to send: select a range, or use Timeline.to_chrome(path)")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeline.json"
        write(timeline.recording, timeline.places, path)
        return path.read_bytes(), ending


def _chrome(programs: Programs, params: Params) -> Made:
    return _trace(programs, params, chrome_writer.write, "trace.json")


def _speedscope(programs: Programs, params: Params) -> Made:
    return _trace(programs, params, speedscope_writer.write, "speedscope.json")


_MAKERS: dict[str, tuple[Callable[[Programs, Params], Made], str]] = {
    "chrome": (_chrome, "application/json"),
    "speedscope": (_speedscope, "application/json"),
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
    data, ending = make(programs, params)
    if len(data) > LARGEST:
        raise BadRequest(f"the file has {len(data):,} bytes, too many to send: select a range, or save it in Python")
    return {"name": f"timeline.{ending}", "type": kind, "bytes": len(data)}, [pack(data)]


METHODS: dict[str, Method] = {"timeline export": jobs.slow(_get_file)}
