"""Small files by name: the newest stay, as many and as large as may be, and what is not whole is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxstage_ext.store.named_files import NamedFiles

HEAD = 18 + 32
"""Bytes of a file beside its data."""


def written(folder: Path, most_bytes: int = 10**6, most_files: int = 100) -> NamedFiles:
    """Files a to d of ten bytes, the last of them the newest."""
    files = NamedFiles(folder / "records", ".record", most_bytes, most_files)
    for at, name in enumerate("abcd"):
        files.write(name, name.encode() * 10)
        os.utime(folder / "records" / f"{name}.record", (1000 + at, 1000 + at))
    return files


def test_the_newest_come_first(tmp_path: Path) -> None:
    assert [(file.name, file.size) for file in written(tmp_path).listed()] == [(name, HEAD + 10) for name in "dcba"]
    assert written(tmp_path).read("b") == b"b" * 10


@pytest.mark.parametrize(
    ("most_bytes", "most_files", "kept"),
    [(10**6, 100, "dcba"), (10**6, 4, "dcba"), (10**6, 2, "dc"), (3 * (HEAD + 10), 4, "dcb"), (HEAD + 10, 4, "d")],
)
def test_the_oldest_go_beyond_either_limit(tmp_path: Path, most_bytes: int, most_files: int, kept: str) -> None:
    files = written(tmp_path, most_bytes, most_files)
    files.make_room()
    assert "".join(file.name for file in files.listed()) == kept


def test_a_file_under_the_name_of_another_is_none(tmp_path: Path) -> None:
    files = written(tmp_path)
    os.replace(tmp_path / "records" / "a.record", tmp_path / "records" / "b.record")
    assert files.read("b") is None and files.read("a") is None
    assert files.read("c") == b"c" * 10
