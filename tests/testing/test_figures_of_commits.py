"""Figures by commit: pytest itself runs with the plugin in a repository of two commits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxstage_ext.testing.figures_of_commit import KeptFigures, moved, read_history, write_history

TEST = """
import jax, jax.numpy as jnp
from jaxstage_ext.testing import compiled

def test_product():
    a = jax.ShapeDtypeStruct(({size}, 64), jnp.float32)
    compiled(lambda a: a @ a.T, a).collectives(at_most={{"all-reduce": 0}})
"""


def kept(commit: str, flops: float | None, test: str = "t") -> KeptFigures:
    return KeptFigures(commit, test, "step(x)", "cpu", {"FLOPs": flops})


def test_what_moved_is_against_the_newest_other_commit() -> None:
    history = [kept("a", 1.0), kept("b", 2.0), kept("c", 3.0)]
    assert [(one.before, one.after, one.commit) for one in moved(history, [kept("c", 4.0)])] == [(2.0, 4.0, "b")]
    assert moved(history, [kept("d", 3.0)]) == []
    assert [one.after for one in moved(history, [kept("d", None)])] == [None]
    assert moved(history, [kept("d", 9.0, "another test")]) == []


def test_a_file_is_read_whatever_else_stands_in_it(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    write_history(file, [kept("a", 1.0), kept("b", None)])
    file.write_text(file.read_text() + '{"commit": "c"\n[]\nnull\n' + "[" * 5000 + "\n\xff\n")
    assert read_history(file) == [kept("a", 1.0), kept("b", None)]
    write_history(file, [kept("b", 5.0)])
    assert read_history(file) == [kept("a", 1.0), kept("b", 5.0)]


@pytest.mark.once("what is written of figures; the figures themselves are in test_compiled_program.py on both")
def test_pytest_says_what_moved_between_two_commits(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *own, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def run(size: int) -> str:
        (tmp_path / "test_it.py").write_text(TEST.format(size=size))
        git("add", "test_it.py")
        git("commit", "-qm", f"size {size}")
        plugin = ["-p", "jaxstage_ext.testing.history_plugin", "--jaxstage-history", "figures.jsonl"]
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin], cwd=tmp_path,
                              capture_output=True, text=True, timeout=120, env=dict(os.environ))  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    git("init", "-q")
    assert "no figure moved" in run(8)
    said = run(16)
    by_hand = {size: 2 * 64 * size * size for size in (8, 16)}
    assert f"FLOPs {by_hand[8] / 1e3:.3g} kFLOP → {by_hand[16] / 1e3:.3g} kFLOP (+300%)" in said
    assert [one.figures["FLOPs"] for one in read_history(tmp_path / "figures.jsonl")] == [by_hand[8], by_hand[16]]
