"""Where in the user's code, and in which notebook cell, JAX raised an event."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Mapping
from types import FrameType
from typing import NamedTuple

from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.core.jax_private.compile_frames import is_jax
from jaxstage_ext.ir.sources import run_cells, source

_MOST_FRAMES = 2000
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class EventPlace(NamedTuple):
    """The places of one event."""

    call_site: Place | None = None
    user_line: Place | None = None
    """`call_site`, `user_line`: as `CompileRecord` has them."""
    cell: int | None = None
    run: str | None = None
    """`cell`, `run`: the execution count of the cell that ran, and its id."""
    is_ours: bool = False
    """Whether JAXStage called JAX."""


def event_place(frame: FrameType | None) -> EventPlace:
    """The places of an event, from the innermost frame that is not JAX's."""
    cells = source.cell_numbers()
    ours = frame is not None and frame.f_code.co_filename.startswith(_PACKAGE)
    site: Place | None = None
    line: Place | None = None
    cell_line: Place | None = None
    outermost: str | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        file = frame.f_code.co_filename
        if file in cells:
            cell_line = cell_line or _place(frame, cells)
            outermost = file
        if site is None and not is_jax(file) and not file.startswith(_PACKAGE):
            site = _place(frame, cells)
        if line is None and _is_users_file(file):
            line = _place(frame, cells)
        if line is not None and not cells:
            break
        frame = frame.f_back
    return EventPlace(site, cell_line or line or site, *_cell(outermost, cells), ours)


@functools.lru_cache(maxsize=4096)
def _is_users_file(file: str) -> bool:
    return not file.startswith("<") and not is_jax(file) and not source.is_outside(file) and source.is_user(file)


def _place(frame: FrameType, cells: Mapping[str, int]) -> Place:
    code = frame.f_code
    return _kept_place(code.co_filename, frame.f_lineno, code.co_qualname, cells.get(code.co_filename))


@functools.lru_cache(maxsize=4096)
def _kept_place(file: str, line: int, function: str, cell: int | None) -> Place:
    return Place(file, line, function, cell)


def _cell(outermost: str | None, cells: Mapping[str, int]) -> tuple[int | None, str | None]:
    """The cell that ran: that of the outermost frame, which tells tasks and threads of earlier cells too."""
    running = run_cells.at_work()
    if outermost is None:
        here = running is not None and threading.current_thread() is threading.main_thread()
        return (running.number, running.id) if here and running is not None else (None, None)
    number = cells[outermost]
    if running is not None and running.number == number:
        return number, running.id
    return number, run_cells.newest_cell(outermost)


def forget() -> None:
    """Forget the places that records share."""
    _kept_place.cache_clear()
