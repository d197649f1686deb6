"""Opens whatever was saved: a profile, or an inspection as JSON. The kind is told by what is in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.ir.hlo import hlo_files
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome.unpacking import beginning, unpacked
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.xla_dump import XlaDump

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection
    from jaxstage_ext.panel.shown_timeline import ShownTimeline

_HEAD = 4096
Targets = Sequence[str]
_INSPECTION = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*"jaxstage"')


@dataclass(frozen=True)
class SavedKind:
    """A kind of file: how it is recognised by its unpacked beginning and name, and what opens it."""

    name: str
    recognised: Callable[[bytes, str], bool]
    open: Callable[[opening.Source, str, Targets], Inspection | ShownTimeline]


def load(
    source: str | os.PathLike[str] | bytes, title: str = "", target: str | Targets = ()
) -> Inspection | ShownTimeline | XlaDump:
    """Open what was saved: a profile as a Timeline; a module of XLA, or the JSON of an Inspection, as an Inspection.

    A folder that XLA dumped into is an XlaDump, each of whose modules opens. Modules are HLO (`*.hlo.pb`, or text) and
    StableHLO (text or bytecode).

    Profiles are `.xplane.pb` files, Chrome or Perfetto JSON traces of JAX, PyTorch or Mosaic GPU, and the folders that
    profilers write, of which the newest run is opened. Files may be gzip. The kind is told by the content.

    Args:
      source: a path, or the bytes of a file.
      title: what was profiled; the name of the file by default.
      target: what a module of StableHLO is compiled for, in a worker: "v5e:2x2", "local", or several. Without it, it is
        shown as it is.

    Raises:
      UnreadableProfile: a ValueError: it is none of these, or is a damaged profile.
      UnreadableModule: a ValueError: it is a damaged module, or a compiled one with a target.
      ValueError: it is an inspection that is damaged, or of a newer version.
      OSError: it cannot be read.
    """
    if not isinstance(source, bytes) and (folder := Path(source).expanduser()).is_dir() and dump_index.is_dump(folder):
        return XlaDump(folder)
    targets = (target,) if isinstance(target, str) else tuple(target)
    head = _head(source)
    return next(kind for kind in KINDS if kind.recognised(head, _name(source))).open(source, title, targets)


def _name(source: opening.Source) -> str:
    return "" if isinstance(source, bytes) else Path(source).name


def _head(source: opening.Source) -> bytes:
    if isinstance(source, bytes):
        return beginning(source, _HEAD)
    path = Path(source).expanduser()
    if path.is_dir() or not opening.regular_size(path):
        return b""
    with path.open("rb") as file:
        return beginning(file.read(_HEAD), _HEAD)


def _is_inspection(head: bytes, name: str) -> bool:
    return _INSPECTION.match(head) is not None


def _inspection(source: opening.Source, title: str, targets: Targets) -> Inspection:
    from jaxstage_ext.inspection import Inspection

    data = source if isinstance(source, bytes) else opening.contents(Path(source).expanduser())
    return Inspection.from_json(unpacked(data, title or "the inspection").decode("utf-8-sig", "replace"))


def _is_module(head: bytes, name: str) -> bool:
    return hlo_files.form_of(head, name) is not None


def _module(source: opening.Source, title: str, targets: Targets) -> Inspection:
    from jaxstage_ext.core.targets.target import parse_all
    from jaxstage_ext.inspection import Inspection
    from jaxstage_ext.program import module_program

    path = None if isinstance(source, bytes) else Path(source).expanduser()
    data = source if isinstance(source, bytes) else opening.contents(Path(source).expanduser())
    name = path.name if path else ""
    data = unpacked(data, title or name or "the module")
    return Inspection.of(module_program.opened(data, title or name, path, parse_all(targets) if targets else ()))


def _timeline(source: opening.Source, title: str, targets: Targets) -> ShownTimeline:
    from jaxstage_ext.panel import shown_timeline

    return shown_timeline.opened(opening.open_recording(source, title))


KINDS = (
    SavedKind("inspection", _is_inspection, _inspection),
    SavedKind("module", _is_module, _module),
    SavedKind("profile", lambda head, name: True, _timeline),
)
"""In the order in which they are tried; the last one says what is wrong with what nothing recognises."""

__all__ = ["KINDS", "SavedKind", "UnreadableProfile", "load"]
