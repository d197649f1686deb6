"""Figures of compiled programs by commit, one JSON line each, and what moved since the commit before."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_NAMES = ("test", "call", "target")
_LARGEST_LINE = 100_000


@dataclass(frozen=True)
class KeptFigures:
    """The figures of one program in one test at one commit; None unknown."""

    commit: str
    test: str
    call: str
    target: str
    figures: Mapping[str, float | None]

    @property
    def key(self) -> tuple[str, ...]:
        """What tells the program from others, whatever the commit."""
        return self.test, self.call, self.target


@dataclass(frozen=True)
class MovedFigure:
    """A figure that differs from the one of an earlier commit; None unknown."""

    key: tuple[str, ...]
    name: str
    before: float | None
    after: float | None
    commit: str
    """Of the earlier one."""


def current_commit(folder: Path) -> str:
    """The commit of a folder, with "+" where it has changes; "unknown" where git does not say."""
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    return f"{commit}+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else commit


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def read_history(file: Path) -> list[KeptFigures]:
    """What a file holds, oldest first; lines that are none of ours are left out, as of a run that was cut off."""
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return [kept for line in lines if len(line) <= _LARGEST_LINE and (kept := _read(line)) is not None]


def _read(line: str) -> KeptFigures | None:
    try:
        data: Any = json.loads(line)
        figures = {str(name): None if value is None else float(value) for name, value in data["figures"].items()}
        test, call, target = (str(data[name]) for name in _NAMES)
        return KeptFigures(str(data["commit"]), test, call, target, figures)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_history(file: Path, new: Iterable[KeptFigures]) -> None:
    """Add lines; those of the same commit and program are replaced. Raises OSError."""
    added = {(one.commit, *one.key): one for one in new}
    kept = [one for one in read_history(file) if (one.commit, *one.key) not in added]
    lines = [json.dumps(asdict(one), sort_keys=True) for one in (*kept, *added.values())]
    written = file.with_name(f"{file.name}.writing")
    written.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    written.replace(file)


def moved(history: Iterable[KeptFigures], new: Iterable[KeptFigures]) -> list[MovedFigure]:
    """What differs from the newest figures of another commit, in the order of the tests."""
    found = []
    every = list(history)
    for one in new:
        before = next((old for old in reversed(every) if old.key == one.key and old.commit != one.commit), None)
        if before is None:
            continue
        for name, value in one.figures.items():
            old = before.figures.get(name)
            if old != value:
                found.append(MovedFigure(one.key, name, old, value, before.commit))
    return found
