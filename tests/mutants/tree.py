"""A copy of the tree, in which one file at a time has a fault."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.mutant import ROOT, Mutant

COPIED = (
    "jaxstage_ext",
    "tests",
    "notebooks",
    "labextension",
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
)
LEFT_OUT = ("node_modules", "lib", "__pycache__", "screenshots", ".pytest_cache", ".hypothesis")
_later = itertools.count(1)


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """The copy, in a temporary folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="jaxstage-mutants-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        for name in COPIED:
            _copy(ROOT / name, tree / name)
        (tree / "labextension" / "node_modules").symlink_to((ROOT / "labextension" / "node_modules").resolve())
        _check(tree)
        yield tree


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    else:
        shutil.copy2(source, target)


def _check(tree: Path) -> None:
    """Python imports the package from the copy, not from where it is installed."""
    code = "import jaxstage_ext; print(jaxstage_ext.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env=environment(tree), capture_output=True, text=True
    )
    if not Path(found.stdout.strip() or ".").is_relative_to(tree):
        raise SystemExit(f"the copy is not what is imported: {found.stdout or found.stderr}")


def environment(tree: Path) -> dict[str, str]:
    """Variables of the processes that run tests of the copy."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}


@contextlib.contextmanager
def with_fault(tree: Path, mutant: Mutant) -> Iterator[None]:
    """The copy has the fault inside the block. Raises StaleMutant."""
    file = tree / mutant.file
    whole = file.read_text()
    _write(file, mutant.of(whole))
    try:
        yield
    finally:
        _write(file, whole)
        shutil.rmtree(tree / ".hypothesis", ignore_errors=True)


def _write(file: Path, text: str) -> None:
    """Write it with a time of its own: Python takes bytecode for current whose source has the same second and size."""
    file.write_text(text)
    changed = file.stat().st_mtime + next(_later)
    os.utime(file, (changed, changed))
