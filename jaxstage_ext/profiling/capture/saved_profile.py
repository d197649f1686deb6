"""A profile as a file, in the folders that XProf and TensorBoard look for."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

_MOST_IN_A_SECOND = 1000


def write(data: bytes, folder: str | os.PathLike[str]) -> Path:
    """Write an XSpace to a new file under `folder` and give its path. Raises OSError where that cannot be."""
    runs = Path(folder).expanduser() / "plugins" / "profile"
    run = time.strftime("%Y_%m_%d_%H_%M_%S")
    for number in range(_MOST_IN_A_SECOND):
        path = runs / (f"{run}_{number}" if number else run)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if not path.is_dir():
                raise
            continue
        file = path / f"{socket.gethostname() or 'host'}.xplane.pb"
        partial = file.with_suffix(".part")
        partial.write_bytes(data)
        partial.replace(file)
        return file
    raise FileExistsError(f"{runs} has a profile of each name for {run}; try once more")
