"""Where this user's caches belong on this platform."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """`~/.cache/jaxstage`, under XDG_CACHE_HOME where that is set; the like on macOS and Windows."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jaxstage"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "jaxstage"
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "jaxstage"
