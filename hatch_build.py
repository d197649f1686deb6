"""Builds the front end into jaxstage_ext/static/ before a wheel, an sdist or an editable install."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TABS = Path(__file__).resolve().parent / "labextension" / "src" / "tabs"


def scripts(tabs: Path) -> list[str]:
    """The tabs with a script of their own: the folders whose index does not import the view, as tabs.mjs has it."""
    return sorted(
        path.parent.name for path in tabs.glob("*/index.ts") if 'from "./view"' not in path.read_text("utf-8")
    )


BUILT = (
    *("stub.js", "panel.js", "panel.css", "standalone.js", "tabs.json", "labextensions/jaxstage/package.json"),
    *(f"{name}.js" for name in scripts(TABS)),
)
NOT_SOURCES = ("node_modules", "lib", "tests", "dev")
NO_NPM = (
    "jaxstage-ext: the front end must be built ({why}), and that needs npm, which is not on the PATH.\n"
    "Install Node.js 20 or newer, or install a released wheel or sdist: those hold the built files."
)


def sources(front_end: Path) -> Iterable[Path]:
    """The files that the build reads: all of them but what it installs, what it writes for development, and prose."""
    for path in sorted(front_end.iterdir()):
        if path.is_file() and path.suffix != ".md":
            yield path
        elif path.is_dir() and path.name not in NOT_SOURCES:
            yield from (inner for inner in path.rglob("*") if inner.is_file())


def reason_to_build(root: Path) -> str | None:
    """Why the static files have to be built, or None when they exist and are up to date."""
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
