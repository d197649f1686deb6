"""The cells that have run: which of them a file name of compiled code stands for, and the text that they ran with.

The notebook fills this in; what reads frames asks.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jaxstage_ext.report.frames import TextInEditor

MOST_FILES, MOST_CELLS = 4096, 16
"""File names that are kept, and cells with the same text."""


class RunText(NamedTuple):
    """A text that ran: the newest of the cells with it first."""

    cells: tuple[str, ...]
    crc: int
    lines: int


class CellAtWork(NamedTuple):
    """A running cell: the id that the page knows it by, where there is one, its prompt, and its execution count."""

    id: str | None
    label: str
    number: int | None = None


_texts: OrderedDict[str, RunText] = OrderedDict()
_labels: dict[str, str] = {}
_order: OrderedDict[str, None] = OrderedDict()
_lock = threading.Lock()
_whose = ""
_running: list[CellAtWork] = []
_idle = threading.Event()
_idle.set()
_told: list[Callable[[], object]] = []


def record(file: str, cell: str, text: str) -> None:
    """A cell runs this text, which the user sees in its editor; its code is compiled under this file name."""
    with _lock:
        former = _texts.pop(file).cells if file in _texts else ()
        cells = (cell, *(other for other in former if other != cell))[:MOST_CELLS]
        _texts[file] = RunText(cells, crc_of(text), _line_count(text))
        while len(_texts) > MOST_FILES:
            _texts.popitem(last=False)


def text_in_editor(file: str) -> TextInEditor:
    """The cells whose code has this file name, and the checksum of their text.

    The checksum is unknown where the compiled code has other lines than the editor: IPython drops blank lines above
    the first, and joins those of a shell command.
    """
    from jaxstage_ext.report.frames import TextInEditor

    with _lock:
        run = _texts.get(file)
    if run is None:
        return TextInEditor()
    compiled = "".join(linecache.getlines(file))
    return TextInEditor(run.cells, run.crc if _line_count(compiled) == run.lines else None)


def newest_cell(file: str) -> str | None:
    """The id of the cell that ran the code with this file name last; None where it has none."""
    run = _texts.get(file)
    return run.cells[0] if run is not None else None


def ran(file: str) -> None:
    """A cell runs whose code has this file name."""
    with _lock:
        _order.pop(file, None)
        _order[file] = None
        while len(_order) > MOST_FILES:
            _order.popitem(last=False)


def in_order() -> dict[str, None]:
    """The file names that were told to `ran`, in the order of their last runs."""
    with _lock:
        return dict(_order)


def name_cells(labels: Mapping[str, str]) -> None:
    """What cells are called that a notebook sent to engines, by the last part of their files' names there."""
    with _lock:
        _labels.update(labels)


def label_of(file: str, number: int) -> str:
    """The label of the cell with this file name and execution count: "In [5]", or what it was named."""
    return _labels.get(os.path.basename(file)) or f"{_whose}In [{number}]"


def are_of(whose: str) -> None:
    """What stands before "In [5]" of cells that were not named, so that they are not taken for another notebook's."""
    global _whose
    _whose = whose


def label_elsewhere(file: str) -> str | None:
    """What a cell was named that ran in another process's kernel under this file name; None where none was."""
    return _labels.get(os.path.basename(file)) if "ipykernel_" in file else None


def crc_of(text: str) -> int:
    """The checksum by which a page recognises a text: that of its UTF-8."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _line_count(text: str) -> int:
    return text.rstrip().count("\n")


def begin(cell: CellAtWork) -> None:
    """A cell begins to run."""
    _idle.clear()
    _running[:] = [cell]
    for tell in list(_told):
        with contextlib.suppress(Exception):
            tell()


def end() -> None:
    """No cell runs any more."""
    _running.clear()
    _idle.set()


def wait_for_end(seconds: float) -> bool:
    """Wait until no cell runs, at most so long; whether none does."""
    return _idle.wait(seconds)


@contextlib.contextmanager
def told_of_next(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell`, in the thread of the cells, when one begins while the block runs; what it raises is dropped."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def at_work() -> CellAtWork | None:
    """The cell that runs; None between cells."""
    return _running[0] if _running else None


def forget() -> None:
    """Forget every cell."""
    with _lock:
        _texts.clear()
        _labels.clear()
        _order.clear()
    are_of("")
    end()
