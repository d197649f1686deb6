"""Builds the front end into jaxstage_ext/static/ before a wheel, an sdist or an editable install."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SCRIPTS = ("answers", "passes", "cost", "memory", "shardings", "collectives", "dtypes", "machine", "options")
BUILT = ("panel.js", "panel.css", "standalone.js", *(f"{name}.js" for name in SCRIPTS))
NO_NPM = (
    "jaxstage-ext: the front end must be built ({why}), and that needs npm, which is not on the PATH.\n"
    "Install Node.js 20 or newer, or install a released wheel or sdist: those hold the built files."
)


def sources(front_end: Path) -> Iterable[Path]:
    """The files that the build reads."""
    yield from (path for path in front_end.iterdir() if path.is_file() and path.suffix != ".md")
    yield from (path for path in (front_end / "src").rglob("*") if path.is_file())


def reason_to_build(root: Path) -> str | None:
    """Why the static files have to be built, or None when they are there and fresh."""
    built = [root / "jaxstage_ext" / "static" / name for name in BUILT]
    missing = [path.name for path in built if not path.is_file()]
    if missing:
        return f"{', '.join(missing)} missing"
    if (root / "PKG-INFO").is_file():
        return None
    oldest = min(path.stat().st_mtime for path in built)
    newer = next((path for path in sources(root / "labextension") if path.stat().st_mtime > oldest), None)
    return f"{newer.name} is newer than what was built" if newer else None


def stale_packages(front_end: Path) -> bool:
    """Whether node_modules is missing or older than the lockfile."""
    installed = front_end / "node_modules" / ".package-lock.json"
    return not installed.is_file() or installed.stat().st_mtime < (front_end / "package-lock.json").stat().st_mtime


def build(root: Path, why: str) -> None:
    """Run `npm ci` where needed and `npm run build`; RuntimeError says what is missing."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(NO_NPM.format(why=why))
    front_end = root / "labextension"
    if stale_packages(front_end):
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=front_end, check=True)
    subprocess.run([npm, "run", "build"], cwd=front_end, check=True)
    left = reason_to_build(root)
    if left:
        raise RuntimeError(f"jaxstage-ext: `npm run build` ran, but {left}")


class FrontEnd(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that hatchling calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        why = reason_to_build(root)
        if why:
            self.app.display_info(f"jaxstage-ext: building the front end ({why})")
            build(root, why)
