"""The requests of the tab of the search of layouts: what was found, one layout, its compile, and a new search."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Method, Params, Programs, with_opened
from jaxstage_ext.panel.requests.forms import layout_form
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.searching.program_search import (
    ProgramSearch,
    SearchBudget,
    kept_search,
    search_program,
    why_not_searched,
)
from jaxstage_ext.program.searching.search_limits import FixedChoices
from jaxstage_ext.search.drawn import found_wording as wording
from jaxstage_ext.search.layout_result import ScoredLayout

MOST_LAYOUTS = 50_000
"""Layouts that are sent; a page asks for a part of them first, which a saved notebook has room for."""
USUAL_SECONDS, LONGEST_SEARCH = 60, 24 * 3600
"""Of a search that the panel offers, and of any."""
ENDING = 30.0
"""Seconds that a search has to end once it was stopped."""


class _Running:
    """A search under way, with what it was asked for."""

    def __init__(self, mesh: str, budget: int) -> None:
        self.asked = {"mesh": mesh, "budget": budget}
        self.cancel, self.ended = threading.Event(), threading.Event()


_running: WeakKeyDictionary[Program, _Running] = WeakKeyDictionary()


def _get_search(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What was found, or what a search would do; one that was stopped has a moment to keep what it found."""
    program = given.program(programs, params)
    most = given.integer(params, "most", 1, MOST_LAYOUTS)
    if (running := _running.get(program)) is not None and running.cancel.is_set():
        progress("ending the search")
        running.ended.wait(ENDING)
    search, running = kept_search(program), _running.get(program)
    answer, buffers = ({"searched": False}, list[bytes]()) if search is None else layout_form.found(search, most)
    return answer | {
        "running": running.asked if running is not None else None,
        "usual": {"mesh": "", "budget": USUAL_SECONDS},
        "offer": wording.OFFER,
        "cannot": "" if search is not None else why_not_searched(program),
    }, buffers


def _run(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Search; a search that is stopped keeps what it found."""
    program, mesh = given.program(programs, params), given.text(params, "mesh").strip()
    budget = given.integer(params, "budget", 0, LONGEST_SEARCH)
    if _running.get(program) is not None:
        raise BadRequest(wording.RUNS_ALREADY, ErrorKind.BUSY)
    running = _running[program] = _Running(mesh, budget)
    progress.on_stop(running.cancel.set)

    def heard(seconds: float, text: str | None = None) -> None:
        progress.text = text

    try:
        limits = SearchBudget(seconds=budget, cancel=running.cancel)
        search = search_program(program, FixedChoices(mesh=mesh or None), limits, heard)
    finally:
        _running.pop(program, None)
        running.ended.set()
    return {"tried": search.found.tried}, []


def _get_layout(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """One layout: what its axes do, its choices and what they are worth, its times, its specs, and it as code."""
    search, layout = _layout(programs, params)
    progress("comparing it with the layouts beside it")
    return layout_form.about(search, layout)


def _compile(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Compile one layout; the other requests then have what that gave."""
    search, layout = _layout(programs, params)
    progress("compiling the layout")
    search.confirm(layout.number, progress=progress.heard)
    return {"text": wording.fit(search.found.layouts[layout.number], search.room)}, []


def _open(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Open one layout as a further call of the panel. The reply says which call it is."""
    program = given.program(programs, params)
    search, layout = _layout(programs, params)
    progress("compiling the layout")
    opened = search.open_program(layout.number, progress.heard)
    if all(opened is not one for one in program.opened):
        program.opened.append(opened)
    return {"call": next(at for at, one in enumerate(with_opened(programs)) if one is opened)}, []


def _layout(programs: Programs, params: Params) -> tuple[ProgramSearch, ScoredLayout]:
    search = kept_search(given.program(programs, params))
    if search is None:
        raise BadRequest(wording.NOT_SEARCHED, ErrorKind.ABSENT)
    last = len(search.found.layouts) - 1
    return search, search.found.layouts[given.integer(params, "layout", 0, max(0, last))]


METHODS: dict[str, Method] = {
    "sharding_search": jobs.slow(_get_search),
    "sharding_search_run": jobs.slow(_run),
    "sharding_search_layout": jobs.slow(_get_layout),
    "sharding_search_compile": jobs.slow(_compile),
    "sharding_search_open": jobs.slow(_open, of_panel=True),
}
