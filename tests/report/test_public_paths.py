"""Paths as others may see them: no home folder, no user's name, and the source as wide as it is."""

from __future__ import annotations

import os

import jax
import pytest

from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.report.text import public_paths


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder, with the kernel in a folder of it, of a user who is called zaphodb."""
    folder = tmp_path / "people" / "zaphodb"
    (folder / "nb" / "models").mkdir(parents=True)
    (folder / "lib" / "pkg").mkdir(parents=True)
    (folder / "lib" / "pkg" / "__init__.py").touch()
    for name, value in {"HOME": folder, "USER": "zaphodb", "LOGNAME": "zaphodb"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(folder / "nb")
    return folder


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("{home}/nb/models/net.py", "models/net.py"),
        ("{home}/lib/pkg/net.py", "pkg/net.py"),
        ("{home}/net.py", "net.py"),
        ("{home}", "…"),
        ("/scratch/zaphodb/net.py", "net.py"),
        ("../net.py", "net.py"),
        ("net.py", "net.py"),
        ("/opt/x/site-packages/flax/nnx/nn.py", "site-packages/flax/nnx/nn.py"),
        (jax.__file__, "site-packages/jax/__init__.py"),
        (os.__file__, "os.py"),
        ("<string>", "<string>"),
        ("", ""),
    ],
)
def test_a_source_file(home, path: str, seen: str) -> None:
    assert public_paths.public_path(path.format(home=home)) == seen


@pytest.mark.parametrize("here", ["/", "{home}/.."])
def test_a_kernel_above_the_home_folder_shows_no_more(home, monkeypatch, here: str) -> None:
    monkeypatch.chdir(here.format(home=home))
    assert public_paths.public_path(f"{home}/nb/net.py") == "net.py"
    assert public_paths.public_text(f"{home}/nb/net.py") == "…/net.py"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("cannot read {home}/a/m.npy: gone", "cannot read …/m.npy: gone"),
        ("File '{home}/nb/models/net.py', line 3", "File 'models/net.py', line 3"),
        ("in '{home}' and {home}/", "in '…' and …/"),
        ("--xla_dump_to=/home/bob/dump,/Users/eve", "--xla_dump_to=…/dump,…"),
        ("/scratch/zaphodb and /opt/data/x.csv", "…/… and …/x.csv"),
        ("{jax}:3", "jax/__init__.py:3"),
        ("see https://docs.jax.dev/en/latest/errors.html#a", None),
        ("jit(f)/mul/home/a, 3 GB/s/device, 1 / 2 / 3, transpose(jvp(f))/a/b", None),
        ("%x = f32[3]{{0}} /*index=5*/ add", None),
    ],
)
def test_a_message(home, text: str, seen: str | None) -> None:
    text = text.format(home=home, jax=jax.__file__)
    assert public_paths.public_text(text) == (text if seen is None else seen)


def test_a_document_loses_known_folders_and_keeps_everything_else(home) -> None:
    text = f'  mul(a)/x/y "{home}/a.bin" /opt/data/x\n' * 3
    assert public_paths.public_folders(text) == '  mul(a)/x/y "…/a.bin" /opt/data/x\n' * 3


def test_source_stays_as_wide_as_it_is(home) -> None:
    line = f'x = load("{home}/x.npy")  # {home}x, /home/bob/y'
    masked = public_paths.masked_source(line)
    assert len(masked) == len(line)
    assert masked.replace("…", "") == f'x = load("/x.npy")  # {home}x, /y'


def test_data_keeps_its_form(home) -> None:
    data = {"a": [f"{home}/x", 3, None, True], "b": {"c": f"{home}/nb/y"}}
    assert public_paths.public_json(data) == {"a": ["…/x", 3, None, True], "b": {"c": "y"}}


def test_two_files_of_one_name_stay_two(home) -> None:
    table = FrameTable()
    names = [table.source(f"/opt/{folder}/net.py").label for folder in "aba"]
    assert names == ["net.py", "net.py (2)", "net.py"]


@pytest.mark.parametrize("piece", ["/a", " /a", "/home/", "{home}", "{home}/b ", "a", " /", "/" * 9])
def test_long_texts_take_linear_time(home, piece: str) -> None:
    text = (piece.format(home=home) * 100_000)[:100_000]
    assert len(public_paths.public_text(text)) <= len(text) * 2
