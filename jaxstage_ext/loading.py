"""Opens whatever was saved: a profile, or an inspection as JSON. The kind is told by what is in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome.unpacking import beginning, unpacked
from jaxstage_ext.profiling.unreadable import UnreadableProfile

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection
    from jaxstage_ext.panel.shown_timeline import ShownTimeline

_HEAD = 4096
_INSPECTION = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*"jaxstage"')


@dataclass(frozen=True)
class SavedKind:
    """A kind of file: how its unpacked beginning is recognised, and what opens it."""

    name: str
    recognised: Callable[[bytes], bool]
    open: Callable[[opening.Source, str], Inspection | ShownTimeline]


def load(source: str | os.PathLike[str] | bytes, title: str = "") -> Inspection | ShownTimeline:
    """Open what was saved: a profile as a Timeline, or the JSON of an Inspection.

    Profiles are `.xplane.pb` files, Chrome or Perfetto JSON traces of JAX, PyTorch or Mosaic GPU, and the folders that
    profilers write, of which the newest run is opened. Files may be gzip. The kind is told by the content.

    Args:
      source: a path, or the bytes of a file.
      title: what was profiled; the name of the file by default.

    Raises:
      UnreadableProfile: a ValueError: it is neither, or is damaged.
      ValueError: it is an inspection that is damaged, or of a newer version.
      OSError: it cannot be read.
    """
    head = _head(source)
    return next(kind for kind in KINDS if kind.recognised(head)).open(source, title)


def _head(source: opening.Source) -> bytes:
    if isinstance(source, bytes):
        return beginning(source, _HEAD)
    path = Path(source).expanduser()
    if path.is_dir() or not opening.regular_size(path):
        return b""
    with path.open("rb") as file:
        return beginning(file.read(_HEAD), _HEAD)


def _is_inspection(head: bytes) -> bool:
    return _INSPECTION.match(head) is not None


def _inspection(source: opening.Source, title: str) -> Inspection:
    from jaxstage_ext.inspection import Inspection

    data = source if isinstance(source, bytes) else opening.contents(Path(source).expanduser())
    return Inspection.from_json(unpacked(data, title or "the inspection").decode("utf-8-sig", "replace"))


def _timeline(source: opening.Source, title: str) -> ShownTimeline:
    from jaxstage_ext.panel import shown_timeline

    return shown_timeline.opened(opening.open_recording(source, title))


KINDS = (
    SavedKind("inspection", _is_inspection, _inspection),
    SavedKind("profile", lambda head: True, _timeline),
)
"""In the order in which they are tried; the last one says what is wrong with what nothing recognises."""

__all__ = ["KINDS", "SavedKind", "UnreadableProfile", "load"]
