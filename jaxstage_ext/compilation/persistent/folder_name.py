"""Names of cache folders in full, the home folder as "~"."""

from __future__ import annotations

import os


def folder_name(folder: str) -> str:
    """A folder's path from the root or from the home folder on; a remote one, and "", as they are."""
    if not folder or "://" in folder:
        return folder
    path = os.path.abspath(folder)
    for home in dict.fromkeys((os.path.expanduser("~"), os.path.realpath(os.path.expanduser("~")))):
        if len(home) > 1 and (path == home or path.startswith(home + os.sep)):
            return f"~{path[len(home) :]}"
    return path
