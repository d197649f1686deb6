"""Inside the worker: compile once more with a dump after every pass, and keep the dumps as differences.

XLA writes a file for each pass that changed the module. They are read while it compiles, and removed at once, since a
large module's pipeline is gigabytes. Imports neither jax nor jaxlib.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jaxstage_ext.worker.inside import dump_room, pass_log, whole_files, whole_passes
from jaxstage_ext.worker.inside.log import LogTail
from jaxstage_ext.worker.inside.pass_log import Ran
from jaxstage_ext.worker.inside.short_names import ShortName
from jaxstage_ext.worker.inside.version_encoder import VersionEncoder
from jaxstage_ext.worker.inside.whole_passes import END, FIRST, LAST, START, Dump, fit

FLAGS = {"xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_text": True}
OUTSIDE = "outside a pass"
"""In place of a pass's name, for what changed between the passes before it and the pipeline's first."""
_POLL = 0.03
_DUMP = re.compile(
    r"(?P<module>module_\d+)\.(?P<name>.+)\.(?P<number>\d{4,})\."
    r"(?P<pipeline>.+?)\.after_(?P<after>.+)\.before_(?P<before>.+)\.txt"
)
"""The name of a module may hold dots and numbers too, `IrToHlo.3979`."""
_NUMBERED = re.compile(r"(?P<module>module_\d+\.(?P<name>.+))\.(?P<number>\d{4,})\.")
_FIRST, _LAST, _CODE = f".{FIRST}.txt", f"{LAST}.txt", ".after_codegen.txt"
_AFTERWARDS = LAST, "after_codegen"


class PassRow(NamedTuple):
    """A pass of the pipeline: the version after it, None where it changed nothing; seconds None where unknown."""

    pipeline: str
    name: str
    seconds: float | None
    version: int | None


def collect(
    compile_: Callable[[Mapping[str, Any]], Any], folder: Path, log: Path, early: bool, name: ShortName | None = None
) -> dict[str, Any]:
    """{"head": plain JSON, "parts": bytes}, which `ir.passes.pipeline` reads.

    Args:
      compile_: compiles with the XLA flags it is given.
      folder: where XLA dumps; is removed.
      log: of this process.
      early: do not wait for the compile to end once the last pass has run. The result's "running" says that it has
        not, so that the process is to be left.
      name: that under which it is compiled, and that which its texts are to have.

    Raises DumpCut where what is dumped is not whole, with XLA perhaps still running; what `compile_` does where nothing
    was dumped before.
    """
    dump_room.check(folder)
    reader, tail, failed = _Reader(folder, named=name), LogTail(log), []

    def run() -> None:
        try:
            compile_({"xla_dump_to": str(folder), **FLAGS})
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not (early and reader.is_optimised()):
            thread.join(_POLL)
            dump_room.check_free(folder)
            reader.take()
        dump_room.check(folder, tail)
        reader.take(last=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if failed and not reader.dumps:
        raise failed[0]
    running, ran = thread.is_alive(), pass_log.read(tail.text(), reader.name)
    whole_passes.check(reader.numbers, reader.dumps, ran, cut_short=running or bool(failed))
    rows = _rows(ran, reader.dumps)
    if not failed and not running:
        tail.remove()
    return {"running": running, **_packed(reader, rows, failed)}


def read(folder: Path) -> dict[str, Any]:
    """As `collect`, of a module that XLA dumped before; the files are removed.

    Which passes changed nothing, and how long each took, is not in a dump. Raises ValueError where there are no passes,
    DumpCut where one is cut.
    """
    reader = _Reader(folder, is_ordered_by_time=False)
    reader.take(last=True)
    if len(reader.dumps) < 2:
        raise ValueError("it holds no passes: dump them with XLA_FLAGS=--xla_dump_hlo_pass_re=.*")
    return _packed(reader, _rows([], reader.dumps), [])


def _packed(reader: _Reader, rows: list[PassRow], failed: list[Exception]) -> dict[str, Any]:
    notes = [f"The compile failed, these are the passes before that: {failed[0]}"] if failed else []
    head = {
        "passes": [list(row) for row in rows],
        "module": reader.own_name,
        "text_bytes": reader.encoder.text_bytes,
        "notes": notes,
    }
    return {"head": head, "parts": reader.encoder.pack()}


class _Reader:
    """Takes the dumps of the one module that was asked for; others are the compiler's own, such as candidates."""

    def __init__(self, folder: Path, is_ordered_by_time: bool = True, named: ShortName | None = None) -> None:
        self._folder, self._is_ordered_by_time, self._named = folder, is_ordered_by_time, named
        self.name = ""
        self.numbers: dict[str, set[int]] = {}
        self.encoder = VersionEncoder()
        self.dumps: list[Dump] = []

    @property
    def own_name(self) -> str:
        """The module's name, whatever it is compiled under."""
        return self._named.own if self._named else self.name

    def take(self, last: bool = False) -> None:
        """Read what is written whole: all but the newest dump, and what comes after one that is still written.

        Raises DumpCut for the `last` time, where nothing is written any more, unless all are whole.
        """
        dumps = sorted(self._dumps(), key=self._order)
        for path, match in dumps if last else dumps[:-1]:
            if not last and not whole_files.is_whole_module(path):
                return
            self._read(path, match)
        if last:
            for ending in (_LAST, _CODE):
                self._read_named(ending)
            self._count(os.listdir(self._folder))

    def _order(self, entry: tuple[Path, re.Match[str]]) -> tuple[int, int]:
        """By number; XLA counts anew for a module that it compiles again, which then comes later."""
        path, match = entry
        return path.stat().st_mtime_ns if self._is_ordered_by_time else 0, int(match["number"])

    def _dumps(self) -> Iterator[tuple[Path, re.Match[str]]]:
        for name in os.listdir(self._folder) if self._folder.exists() else ():
            if match := _DUMP.fullmatch(name):
                yield self._folder / name, match

    def _read(self, path: Path, match: re.Match[str]) -> None:
        if not self.name:
            self.name = match["name"]
            self._read_named(_FIRST)
        if match["name"] == self.name:
            self._add(path, *match.group("pipeline", "after", "before"))
            self._count([path.name])
        path.unlink(missing_ok=True)

    def _count(self, names: Iterable[str]) -> None:
        for match in filter(None, map(_NUMBERED.match, names)):
            if match["name"] == self.name:
                self.numbers.setdefault(match["module"], set()).add(int(match["number"]))

    def _read_named(self, ending: str) -> None:
        for path in sorted(self._folder.glob(f"module_*.{glob.escape(self.name)}.*{ending.lstrip('.')}")):
            if path.name.endswith(ending):
                self._add(path, "", ending.removeprefix(".").removesuffix(".txt"), "")

    def _add(self, path: Path, pipeline: str, after: str, before: str) -> None:
        whole_files.check_module(path)
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        text = self._named.restored(text) if self._named else text
        self.dumps.append(Dump(pipeline, after, before, self.encoder.add(text)))

    def is_optimised(self) -> bool:
        """Whether the module after the last pass is written whole."""
        paths = self._folder.glob(f"module_*.{glob.escape(self.name)}.*{_LAST}") if self.name else ()
        return any(map(whole_files.is_whole_module, paths))


def _rows(ran: list[Ran], dumps: list[Dump]) -> list[PassRow]:
    """The passes in their order, each with the version that it left. Groups count where they changed something."""
    rows: list[PassRow] = []
    at, now = 0, 0
    for dump in dumps:
        place = _place(ran, at, dump)
        is_logged = place < len(ran)
        end = place if is_logged or dump.after in _AFTERWARDS else at
        rows += [PassRow(this.pipeline, this.name, this.seconds, None) for this in ran[at:end] if _is_pass(this)]
        this = ran[place] if is_logged and dump.after != START else Ran(dump.pipeline, dump.after)
        if dump.version != now:
            name = OUTSIDE if dump.after == START else this.name
            rows.append(PassRow(ran[place].pipeline if is_logged else dump.pipeline, name, this.seconds, dump.version))
        elif is_logged and _is_pass(this) and dump.after != START:
            rows.append(PassRow(this.pipeline, this.name, this.seconds, None))
        at, now = place + 1 if is_logged else end, dump.version
    return rows + [PassRow(this.pipeline, this.name, this.seconds, None) for this in ran[at:] if _is_pass(this)]


def _is_pass(this: Ran) -> bool:
    return bool(this.name) and not this.group


def _place(ran: list[Ran], start: int, dump: Dump) -> int:
    """Which entry of the log wrote a dump; `len(ran)` where none did."""
    name = "" if dump.after == START else dump.after
    candidates = [
        place
        for place in range(start, len(ran))
        if (fit(ran[place].pipeline), fit(ran[place].name)) == (dump.pipeline, name)
    ]
    exact = [place for place in candidates if not name or fit(ran[place].next or END) == dump.before]
    return next(iter(exact or candidates), len(ran))
