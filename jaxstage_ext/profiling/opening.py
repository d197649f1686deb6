"""Opens a profile, whatever its format: the kind is told by what is in it, never by its name."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.chrome import chrome_trace
from jaxstage_ext.profiling.chrome.unpacking import MOST_BYTES as MOST_UNPACKED
from jaxstage_ext.profiling.chrome.unpacking import beginning, is_gzip, unpacked
from jaxstage_ext.profiling.common_clock.clock_alignment import aligned
from jaxstage_ext.profiling.mosaic import mosaic_json, mosaic_saved
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.unreadable import NotAProfile, TooLarge, UnreadableProfile
from jaxstage_ext.profiling.xplane import profiler_folder, xplane
from jaxstage_ext.profiling.xplane.several_hosts import together
from jaxstage_ext.report.recording import Recording
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.text.units import scaled

Source = str | os.PathLike[str] | bytes
_HEAD = 4096
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(?:\{[ \t\r\n]*[\"}]|\[[ \t\r\n]*[{\]])")
_XPLANE_FIELDS = b"\x0a\x12\x1a\x22"
"""The first byte of a serialized XSpace: a plane, an error, a warning or the name of a host."""
MOST_BYTES = 2**31
"""Bytes of a gzip file that are read."""


@dataclass(frozen=True)
class ProfileFormat:
    """A format of profiles: what it is called, how its beginning is recognised, and its reader."""

    name: str
    recognised: Callable[[bytes], bool]
    read: Callable[[bytes, str], Recording]


def is_json(head: bytes) -> bool:
    """Whether data begin as a JSON object, or as a list of objects, does."""
    return _JSON.match(head) is not None


def is_xplane(head: bytes) -> bool:
    """Whether data begin as a serialized XSpace does."""
    return len(head) > 1 and head[0] in _XPLANE_FIELDS


FORMATS = (
    ProfileFormat("trace that JAX dumps of a Mosaic GPU kernel", mosaic_json.is_dump, mosaic_json.read),
    ProfileFormat("Chrome trace", is_json, chrome_trace.read),
    ProfileFormat("saved Mosaic GPU buffer", mosaic_saved.is_numpy, mosaic_saved.read),
    ProfileFormat("xplane", is_xplane, xplane.read),
)
"""In the order in which they are tried."""


def open_profile(source: Source, title: str = "") -> Timeline:
    """The timeline of a profile: an `.xplane.pb`, a Chrome or Perfetto JSON trace, or the folder of a profiler.

    Files may be gzip. Of a folder, the newest run is opened; each of its hosts keeps its own lanes and devices.

    Args:
      source: a path, or the bytes of a file.
      title: what was profiled; the name of the file by default.

    Raises:
      UnreadableProfile: it is not a profile, or is damaged; the message says what it is.
      OSError: the file cannot be read.
    """
    recording = open_recording(source, title)
    return Timeline(recording, op_links.places(recording))


def open_recording(source: Source, title: str = "") -> Recording:
    """The recording of a profile; see `open_profile`."""
    if isinstance(source, bytes):
        return _read(source, title or "the profile")
    path = Path(source).expanduser()
    if not path.is_dir():
        return _read(contents(path), title or shown_name(path.name))
    files = profiler_folder.newest_run(path)
    hosts = [(file.host, _read(contents(file.path), title or shown_name(file.path.name))) for file in files]
    return together(hosts, title or shown_name(path.resolve().name))


def open_processes(sources: Sequence[Source], title: str = "") -> Recording:
    """The profiles of the processes of one job as one recording, with the lanes and devices of each apart.

    All are on one clock: aligned by the collectives that all left together, or else by when each says that it began.

    Args:
      sources: a profile a process, in their order, each as `open_profile` takes it.
      title: what was profiled.

    Raises as `open_profile`, and UnreadableProfile where a profile is of several hosts, or where there is none.
    """
    parts = [(f"process {number}", open_recording(source)) for number, source in enumerate(sources)]
    if not parts:
        raise UnreadableProfile("no profile was given; give one for each process")
    for name, recording in parts:
        if len(recording.hosts) > 1:
            raise UnreadableProfile(f"the profile of {name} is of several hosts; give one profile for each process")
    return together(parts, title or f"profiles of {len(parts)} processes", aligned([one for _, one in parts]))


def contents(path: Path) -> bytes:
    """The bytes of a file. Raises UnreadableProfile where there are too many, and OSError where it cannot be read."""
    size = regular_size(path)
    with path.open("rb") if size else io.BytesIO() as file:
        head = file.read(_HEAD)
        most = MOST_BYTES if is_gzip(head) else MOST_UNPACKED
        if size > most:
            raise TooLarge(
                f"{shown_name(path.name)} has {scaled(size, 'B')}; {scaled(most, 'B')} is the most that is read: "
                "profile fewer steps"
            )
        return head + file.read(max(size - len(head), 0))


def regular_size(path: Path) -> int:
    """Bytes of a file. Raises UnreadableProfile for a pipe or a device, whose reading may never end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableProfile(
            f"{shown_name(path.name)} is not a file but a pipe, a socket or a device; copy it to a file first"
        )
    return status.st_size


def _read(data: bytes, title: str) -> Recording:
    head = beginning(data, _HEAD)
    if not data:
        raise UnreadableProfile(f"{title} is empty")
    for known in FORMATS:
        if known.recognised(head):
            return known.read(unpacked(data, title), title)
    unpacked(data[:_HEAD] if data is head else data, title)  # A damaged gzip file says so itself.
    raise NotAProfile(
        f"{title} is not a profile: it begins with {head[:16]!r}; open an .xplane.pb, a Chrome or Perfetto JSON trace "
        "(.json, .json.gz), or the folder that the profiler wrote"
    )
