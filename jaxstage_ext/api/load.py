"""Opens whatever was saved: a profile, or an inspection as JSON. The kind is told by what is in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from jaxstage_ext.api.xla_dump import ModulesInFile, XlaDump
from jaxstage_ext.ir import module_pieces, text_beginning
from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.ir.hlo import hlo_files
from jaxstage_ext.ir.module_pieces import ModulePiece
from jaxstage_ext.ir.wire import exported_form
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome.unpacking import beginning
from jaxstage_ext.profiling.pprof import device_memory
from jaxstage_ext.profiling.unreadable import NoProfile, NotAProfile, UnreadableProfile
from jaxstage_ext.program.kinds import refused_files
from jaxstage_ext.report.saved.json_form import BadForm
from jaxstage_ext.report.text.encodable import shown_name

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.panel.showing.shown_timeline import ShownTimeline
    from jaxstage_ext.report.table import Table

    Opened = Inspection | ShownTimeline | ModulesInFile | Table

_HEAD = 4096
_MOST_HEAD = 2**27
"""Bytes of comments and aliases that are read before the first thing that says what a file is."""
Targets = Sequence[str]
_INSPECTION = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*"jaxstage"')


@dataclass(frozen=True)
class How:
    """How a program in a file is compiled: for which targets, and the sizes of its symbolic axes by name."""

    targets: Targets
    dims: Mapping[str, int]


@dataclass(frozen=True)
class SavedKind:
    """A kind of file: how it is recognised by its unpacked beginning and name, and what opens it."""

    name: str
    recognised: Callable[[bytes, str], bool]
    open: Callable[[opening.Source, str, How], Opened]


def load(
    source: opening.Source | Sequence[opening.Source],
    title: str = "",
    target: str | Targets = (),
    dims: Mapping[str, int] = MappingProxyType({}),
) -> Opened | XlaDump:
    """Open what was saved: a profile as a Timeline; a module of XLA, or the JSON of an Inspection, as an Inspection.

    A folder that XLA dumped into is an XlaDump, each of whose modules opens; a file of several modules, or of several
    functions none of which is `main`, is a ModulesInFile. Modules are HLO (`*.hlo.pb`, or text) and StableHLO (text or
    bytecode). What `jax.export` serialised is compiled in a worker.

    What `jax.profiler.save_device_memory_profile` wrote is a Table of what holds device memory.

    Profiles are `.xplane.pb` files, Chrome or Perfetto JSON traces of JAX, PyTorch or Mosaic GPU, and the folders that
    profilers write, of which the newest run is opened. Files may be gzip. The kind is told by the content. A list of
    profiles, one for each process of a job, is one Timeline with the lanes of each process apart, on one clock where
    every profile says when it began.

    Args:
      source: a path, or the bytes of a file; or a list of such, the profiles of the processes of a job in their order.
      title: what was profiled; the name of the file by default.
      target: what a module of StableHLO is compiled for, in a worker: "v5e:2x2", "local", or several. Without it, it is
        shown as it is; what was exported is compiled for this machine.
      dims: sizes of the symbolic axes of what was exported, by name: {"b": 8}.

    Raises:
      UnreadableProfile: a ValueError: it is none of these, or is a damaged profile.
      UnreadableModule: a ValueError: it is a damaged module, or a compiled one with a target; or a folder or a jaxpr
        of JAX_DUMP_IR_TO, of which the message says what opens.
      Unavailable: a ValueError: it is a serialised `jax.export`, and flatbuffers is not installed, or it was exported
        for other platforms.
      SymbolicAxis: a ValueError: an axis of what was exported is symbolic, and `dims` lacks it.
      ValueError: it is an inspection that is damaged, or of a newer version; or `dims` names no symbolic axis of it.
      OSError: it cannot be read.
    """
    if isinstance(source, list | tuple):
        from jaxstage_ext.panel.showing import shown_timeline

        _name_cells_of_processes()
        return shown_timeline.opened(opening.open_processes(source, title))
    source = cast(opening.Source, source)
    if not isinstance(source, bytes) and (folder := Path(source).expanduser()).is_dir() and dump_index.is_dump(folder):
        return XlaDump(folder)
    try:
        return opened(source, title, How((target,) if isinstance(target, str) else tuple(target), dims))
    except (NotAProfile, NoProfile) as error:
        raise type(error)(refused_files.what_opens(source, error, _head)) from None
    except UnreadableProfile as error:
        if dumps := refused_files.dumps_below(source):
            raise NoProfile(dumps) from None
        if not refused_files.is_text(source, _head):
            raise
        raise NotAProfile(refused_files.what_opens(source, error, _head)) from None


def _name_cells_of_processes() -> None:
    """Profiles of a job of this kernel's have lines of cells that ran in its processes."""
    from jaxstage_ext.ir.sources import run_cells
    from jaxstage_ext.processes.engines import engine_job

    if engine_job.has_job():
        run_cells.name_cells(engine_job.current_job().cell_labels())


def opened(source: opening.Source, title: str, how: How) -> Opened:
    """As `load`, of a file or the folder of a profiler; what is none of these is said not to be a profile."""
    head = _head(source)
    kind = next(kind for kind in KINDS if kind.recognised(head, _file_name(source)))
    if how.dims and kind.open is not _exported:
        raise ValueError(f"{_name(source) or 'it'} has no symbolic axes, so dims={dict(how.dims)} means nothing")
    try:
        return kind.open(source, title, how)
    except (NotAProfile, NoProfile):
        if why := refused_files.dumped_by_jax(source, head):
            from jaxstage_ext.core.given.module_files import UnreadableModule

            raise UnreadableModule(why) from None
        raise


def _file_name(source: opening.Source) -> str:
    return "" if isinstance(source, bytes) else Path(source).name


def _name(source: opening.Source) -> str:
    """The name of the file as messages have it."""
    return shown_name(_file_name(source))


def _unpacked(source: opening.Source, title: str) -> bytes:
    from jaxstage_ext.program.kinds import module_program

    return module_program.read(source if isinstance(source, bytes) else Path(source).expanduser(), title)


def _head(source: opening.Source) -> bytes:
    """The beginning of a file, unpacked: as much of it as says what it is, which comments and aliases do not."""
    if isinstance(source, bytes):
        return _telling(source.__getitem__)
    path = Path(source).expanduser()
    if path.is_dir() or not opening.regular_size(path):
        return b""
    with path.open("rb") as file:
        data = b""

        def first(piece: slice) -> bytes:
            nonlocal data
            data += file.read(piece.stop - len(data))
            return data

        return _telling(first)


def _telling(first: Callable[[slice], bytes]) -> bytes:
    size, head = _HEAD, b""
    while size <= _MOST_HEAD:
        data = first(slice(size))
        head = beginning(data, size)
        if text_beginning.of(head) is not None or (len(data) < size and len(head) < size):
            break
        size *= 8
    return head


def _is_inspection(head: bytes, name: str) -> bool:
    return _INSPECTION.match(head) is not None


def _inspection(source: opening.Source, title: str, how: How) -> Inspection:
    from jaxstage_ext.api.inspection import Inspection

    name = title or _name(source) or "the inspection"
    try:
        return Inspection.from_json(_unpacked(source, name).decode("utf-8-sig", "replace"))
    except BadForm as error:
        raise BadForm(f"{name}: {error}") from None


def _is_module(head: bytes, name: str) -> bool:
    return hlo_files.form_of(head, name) is not None


def _module(source: opening.Source, title: str, how: How) -> Inspection | ModulesInFile:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.core.given.module_files import SeveralModules
    from jaxstage_ext.core.targets.target import parse_all
    from jaxstage_ext.program.kinds import module_program

    path = None if isinstance(source, bytes) else Path(source).expanduser()
    name = title or _name(source)
    data = _unpacked(source, name or "the module")
    form = hlo_files.form_of(data, _file_name(source))
    if form is not None and (pieces := module_pieces.of(data, form)):
        return ModulesInFile(name or "the file", pieces, path, how.targets)
    targets = parse_all(how.targets) if how.targets else ()
    try:
        return Inspection.of(module_program.opened(data, name, path, targets))
    except SeveralModules as several:
        pieces = [ModulePiece(each, data, each) for each in several.names]
        return ModulesInFile(name or "the file", pieces, path, how.targets)


def _exported(source: opening.Source, title: str, how: How) -> Inspection:
    from jaxstage_ext.api.inspect import inspect
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.core.given import exported, symbolic
    from jaxstage_ext.program.kinds import module_program

    name = title or _name(source) or "the exported function"
    function = exported.opened(_unpacked(source, name), name)
    if unknown := how.dims.keys() - symbolic.names(function.in_avals):
        raise ValueError(f"no axis of {name} is named {', '.join(sorted(unknown))}")
    is_shown = not how.targets and not exported.fits_here(function)
    given = exported.given(function, (), {}, how.dims, for_target=not is_shown)
    assert given is not None
    if is_shown:
        return Inspection.of(module_program.of_given(given))
    return inspect(function, *given.args, target=how.targets or "local", isolate=True, **given.kwargs)


def _device_memory(source: opening.Source, title: str, how: How) -> Table:
    name = title or _name(source) or "the profile"
    return device_memory.table(_unpacked(source, name), name)


def _timeline(source: opening.Source, title: str, how: How) -> ShownTimeline:
    from jaxstage_ext.panel.showing import shown_timeline

    return shown_timeline.opened(opening.open_recording(source, title))


KINDS = (
    SavedKind("inspection", _is_inspection, _inspection),
    SavedKind("module", _is_module, _module),
    SavedKind("exported function", lambda head, name: exported_form.is_exported(head), _exported),
    SavedKind("device memory profile", lambda head, name: device_memory.is_pprof(head), _device_memory),
    SavedKind("profile", lambda head, name: True, _timeline),
)
"""In the order in which they are tried; the last one says what is wrong with what nothing recognises."""

__all__ = ["KINDS", "SavedKind", "UnreadableProfile", "load"]
