"""Versions of installed packages, which are read once and again when something was installed."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from jaxstage_ext.core.targets import packages

NAME = "jaxstage-made-up"


def installed(folder: Path, version: str) -> Path:
    """The metadata of a release of our package, as pip leaves them."""
    made = folder / f"jaxstage_made_up-{version}.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n")
    return made


def test_an_upgrade_and_a_removal_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert packages.version_of(NAME) == ""
    old = installed(tmp_path, "1.0")
    assert packages.version_of(NAME) == "1.0"
    os.utime(tmp_path, ns=(1, 1))  # the clock of a file system is coarse
    shutil.rmtree(old)
    new = installed(tmp_path, "2.0")
    assert packages.version_of(NAME) == "2.0"
    os.utime(tmp_path, ns=(2, 2))
    shutil.rmtree(new)
    assert packages.version_of(NAME) == ""


def test_another_place_that_comes_first_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("one", "1.0"), ("two", "2.0")):
        (folder := tmp_path / name).mkdir()
        installed(folder, version)
        monkeypatch.syspath_prepend(folder)
        assert packages.version_of(NAME) == version


def test_metadata_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    installed(tmp_path, "1.0")
    asked: list[str] = []
    distribution = metadata.distribution
    monkeypatch.setattr(metadata, "distribution", lambda name: asked.append(name) or distribution(name))
    assert {packages.version_of(NAME) for _ in range(3)} == {"1.0"}
    assert asked == [NAME]


def test_jax_says_which_libtpu_it_wants() -> None:
    wanted = packages._pinned("libtpu")
    assert wanted and any(f"libtpu=={wanted}" in need.replace(" ", "") for need in metadata.requires("jax") or [])
