"""Names of cache folders that tell different ones apart, without a home folder."""

from __future__ import annotations

import os
from collections.abc import Sequence

from jaxstage_ext.report.text.public_paths import HIDDEN, public_folders


def folder_names(folders: Sequence[str]) -> list[str]:
    """A short name for each folder: two folders that differ have names that do."""
    names = [public_folders(folder) for folder in folders]
    same = [[at for at, other in enumerate(names) if other == name] for name in names]
    return [
        names[at] if len({_normal(folders[other]) for other in same[at]}) < 2 else _distinguished(at, same[at], folders)
        for at in range(len(folders))
    ]


def _distinguished(at: int, same: Sequence[int], folders: Sequence[str]) -> str:
    """The end of a folder's path that no other of these has, from the home folder on where it comes so far."""
    mine = _parts(folders[at])
    others = [parts for other in same if (parts := _parts(folders[other])) != mine]
    kept = next((n for n in range(1, len(mine)) if all(other[-n:] != mine[-n:] for other in others)), len(mine))
    end = os.sep.join(mine[-kept:])
    return (end or os.sep) if kept == len(mine) else f"{HIDDEN}{os.sep}{end}"


def _parts(folder: str) -> list[str]:
    home, path = os.path.expanduser("~"), _normal(folder)
    if len(home) > 1 and (path == home or path.startswith(home + os.sep)):
        path = f"~{path[len(home) :]}"
    return path.split(os.sep)


def _normal(folder: str) -> str:
    return folder if "://" in folder else os.path.abspath(folder)
