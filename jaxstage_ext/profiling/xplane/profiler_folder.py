"""The profiles in a profiler's folder: `plugins/profile/<run>/<host>.xplane.pb` as JAX writes it, or traces alone."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.profiling.unreadable import NoProfile, UnreadableProfile
from jaxstage_ext.report.text.encodable import shown_name

_DEEPEST = 6
_MOST_FILES = 10_000
_RUN = re.compile(r"\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d.{0,40}")
"""JAX names a run by when it began."""
_XPLANE = (".xplane.pb", ".xplane.pb.gz")
_JSON = (".trace.json.gz", ".trace.json", ".json.gz", ".json")
_SECOND_COPY = "perfetto_trace.json.gz"
"""JAX writes it beside `<host>.trace.json.gz`, with the same events."""


@dataclass(frozen=True)
class HostFile:
    """The profile of one host."""

    path: Path
    host: str


def newest_run(folder: Path) -> list[HostFile]:
    """The profiles of the newest run in a folder, one for each host: XLA's own where there are any, else the JSON.

    Raises UnreadableProfile where the folder holds no profile.
    """
    runs: dict[Path, list[Path]] = defaultdict(list)
    for path in _files(folder):
        if path.name.endswith((*_XPLANE, *_JSON)):
            runs[path.parent].append(path)
    if not runs:
        raise NoProfile(
            f"{shown_name(folder.name or str(folder))} holds no profile: there is no .xplane.pb and no JSON trace in "
            "it or below it"
        )
    return _hosts(runs[max(runs, key=lambda run: _age(run, runs[run]))])


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    base = len(folder.parts)
    for parent, folders, names in os.walk(folder):
        folders.sort()
        if len(Path(parent).parts) - base >= _DEEPEST:
            folders.clear()
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                name = shown_name(folder.name or str(folder))
                raise UnreadableProfile(f"{name} holds more than {_MOST_FILES:,} files; give the folder of one run")
            yield Path(parent, name)


def _age(run: Path, files: list[Path]) -> tuple[bool, bool, str, float]:
    """Larger for newer runs; XLA's own profiles and runs that JAX named come before folders of other JSON files."""
    named = _RUN.fullmatch(run.name) is not None
    has_xplane = any(path.name.endswith(_XPLANE) for path in files)
    return has_xplane or named, named, run.name if named else "", max(path.stat().st_mtime for path in files)


def _hosts(files: list[Path]) -> list[HostFile]:
    """One file for each host, in the order of their names."""
    chosen = [path for path in files if path.name.endswith(_XPLANE)]
    if not chosen:
        own = [path for path in files if path.name != _SECOND_COPY]
        chosen = own or files
    return [HostFile(path, _host(path.name)) for path in sorted(chosen)]


def _host(name: str) -> str:
    ending = next(end for end in (*_XPLANE, *_JSON) if name.endswith(end))
    return name.removesuffix(ending)
