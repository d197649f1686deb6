"""`%timeline`: what a user sees of saved profiles, and of what they get wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook.lines import completion
from jaxstage_ext.profiling.timeline import Timeline
from tests.helpers.profiles import captured

EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "Stream #7(Compute)"}},
    {"ph": "X", "name": "dot", "pid": 1, "tid": 7, "ts": 0, "dur": 3},
    {"ph": "X", "name": "add", "pid": 1, "tid": 7, "ts": 4, "dur": 1},
]


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run one.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    return path


def test_a_file(shell: Shell, trace: Path) -> None:
    seen = shell.run(f"t = %timeline '{trace}'\nt.by_kernel()")
    assert seen.ok, seen.error
    assert isinstance(shell["t"], Timeline)
    assert list(seen.value["kernel"]) == ["dot", "add"]


def test_a_variable_stands_for_a_file(shell: Shell, trace: Path) -> None:
    shell.ip.user_ns |= {"data": trace.read_bytes(), "path": trace}
    for name in ("data", "path", "{str(path)!r}"):
        seen = shell.run(f"%timeline {name}")
        assert seen.ok, seen.error
        assert len(seen.value.events) == 2


def test_two_profiles_are_one_panel_and_a_comparison(shell: Shell, trace: Path) -> None:
    slower = trace.with_name("slower.json")
    slower.write_text(json.dumps([*EVENTS[:2], EVENTS[2] | {"dur": 4}, EVENTS[3]]))
    seen = shell.run(f"both = %timeline '{trace}' {slower}\nboth")
    assert seen.ok, seen.error
    assert seen.value.after.recording.title == "slower.json"
    assert "change" in repr(seen.value)


def test_against_an_inspection(shell: Shell, tmp_path: Path) -> None:
    shell.run("import jax\n@jax.jit\ndef f(w, x):\n    y = x @ w\n    return y.sum()\nins = %compile -q f(w, x)")
    compiled = shell["ins"].compiled
    arguments = shell["w"], shell["x"]
    (tmp_path / "run.xplane.pb").write_bytes(captured(lambda: [compiled(*arguments) for _ in range(3)]))
    seen = shell.run(f"%timeline {tmp_path}/run.xplane.pb --with ins")
    assert seen.ok, seen.error
    assert (seen.value.places.row >= 0).any()
    assert shell["ins"].timeline is seen.value


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "needs a file"),
        ("nowhere.json", "No such file"),
        ("'open", "closing quotation mark"),
        ("a b c", "not 3"),
        ("--all x", "no option --all"),
        ("x.json --with", "needs the name"),
        ("x.json --with nothing", "'nothing' is not defined"),
        ("FOLDER/empty", "is empty"),
        ("FOLDER/foreign", "is not a profile: it begins with b'GIF89a'"),
        ("FOLDER/folder", "holds no profile"),
        ("FOLDER/saved.json", "not a profile"),
    ],
)
def test_mistakes_are_one_line(shell: Shell, tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "foreign").write_bytes(b"GIF89a")
    (tmp_path / "folder").mkdir()
    shell.run("saved = %trace -q loss(w, x)")
    (tmp_path / "saved.json").write_text(shell["saved"].to_json())
    seen = shell.run(f"%timeline {line.replace('FOLDER', str(tmp_path))}")
    assert type(seen.error).__name__ == "UsageError"
    assert said in str(seen.error)
    assert "\n" not in str(seen.error)


def test_paths_are_completed(shell: Shell, trace: Path) -> None:
    trace.with_name("notes.txt").touch()
    trace.with_name("inner").mkdir()
    assert completion._files(f"{trace.parent}/") == [f"{trace.parent}/inner/", f"{trace}"]
    assert completion._files(f"{trace.parent}/in") == [f"{trace.parent}/inner/"]
    assert completion._files("/nowhere/x") == []
    assert completion._files("--w") == ["--with"]


def test_help(shell: Shell) -> None:
    assert "two profiles" in str(shell.ip.magics_manager.magics["line"]["timeline"].__doc__)
