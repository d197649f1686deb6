"""`python -m jaxstage_ext`: the notebook's findings with an exit status, and a line for each mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jaxstage_ext
from jaxstage_ext.command.command_line_entry import main

STEP = """
import jax, jax.numpy as jnp
print("said while it is imported")

def loss(params, batch):
    return (jnp.tanh(batch @ params) ** 2).sum()

@jax.jit
def step(params, batch):
    return params - 0.1 * jax.grad(loss)(params, batch)

params = jax.ShapeDtypeStruct((1024, 1024), jnp.float32)
batch = jax.ShapeDtypeStruct((8, 1024), jnp.float32)
if __name__ == "__main__":
    raise RuntimeError("it was run as a program")
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command on a file of this source: the status, stdout and stderr."""
    for name in ("argv", "stdin", "dont_write_bytecode"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", sys.modules)
    before = set(sys.modules)

    def command(source: str, *arguments: str, name: str = "training.py") -> tuple[int, str, str]:
        (tmp_path / name).write_text(source)
        status = main(["findings", str(tmp_path / name), *arguments])
        return status, *capsys.readouterr()

    yield command
    for name in set(sys.modules) - before:
        if name.startswith("training"):
            del sys.modules[name]


def test_specs_are_given_by_name_on_a_mesh_and_a_name_that_is_none_is_told(run: Run) -> None:
    """Without specs the devices repeat the work of 8 rows; with them each has 2: a fourth of the products' FLOPs."""
    how = ("step(params, batch)", "-t", "cpu:4", "--mesh", "data=4", "--json")
    flops = []
    for specs in ((), ("--in-spec", "batch=P('data')")):
        form = json.loads(run(STEP, *how, *specs)[1])
        [text] = [one["text"] for one in form["figures"] if one["label"] == "FLOPs"]
        flops.append(float(text.removesuffix(" MFLOP")))
    products, all_reduce = 2 * 2 * 8 * 1024**2 / 1e6, 1024**2 / 1e6
    assert flops[0] - flops[1] == pytest.approx(products * 3 / 4 - all_reduce, rel=0.01)
    status, _, err = run(STEP, *how, "--in-spec", "batch=Q('data')")
    assert status == 2 and "does not define 'Q'" in err
    status, _, err = run(STEP, *how, "--in-spec", "batch=")
    assert status == 2 and "Traceback" not in err


def test_the_findings_are_those_of_the_notebook(run: Run) -> None:
    status, out, err = run(STEP, "step(params, batch)", "--json")
    form = json.loads(out)
    namespace: dict[str, Any] = {"__name__": "training"}
    exec(compile(STEP, "training.py", "exec"), namespace)
    inspection = jaxstage_ext.inspect(namespace["step"], namespace["params"], namespace["batch"])
    assert [one["kind"] for one in form["findings"]] == [one.kind.value for one in inspection.findings]
    assert form["findings"][0]["stake"]["most"] == inspection.findings[0].stake.most == 4 * 1024 * 1024
    facts = {fact["label"]: fact["text"] for fact in inspection.summary()["facts"]}
    assert {figure["label"]: figure["text"] for figure in form["figures"]} == facts
    assert form["findings"][0]["line"].endswith("training.py:8")
    assert status == 0
    assert "said while it is imported" in err and "runs the import of training.py" in err


@pytest.mark.parametrize(
    ("limit", "status"),
    [("5%", 1), ("99%", 0), ("any", 1), ("missing donation", 1), ("missing-donation", 1), ("promotion", 0)],
)
def test_the_status_says_whether_a_finding_reaches_the_limit(run: Run, limit: str, status: int) -> None:
    assert run(STEP, "step(params, batch)", "--fail-on", limit)[0] == status


MISTAKES = {
    "fails on import": ("import jax\nraise ValueError('no data')", "f(1)", "line 2: ValueError: no data"),
    "does not parse": ("def f(:", "f(1)", "SyntaxError"),
    "asks for input": ("name = input('which? ')", "f(1)", "it asks for input"),
    "needs arguments": ("import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args()", "f(1)",
                        "pass the options that it needs behind --"),
    "ends itself": ("import sys\nsys.exit(3)", "f(1)", "ends itself with status 3"),
    "no such name": ("def f(x): return x\nbatch = 1.0", "f(bach)", "does not define 'bach'; it has f, batch"),
    "no call": ("f = 1", "f", "is not a call"),
    "no expression": ("f = 1", "f(", "is not a call"),
    "arguments fail": ("def f(x): return x", "f([][1])", "IndexError"),
    "arguments end it": ("import sys\ndef f(x): return x", "f(sys.exit(0))", "SystemExit"),
    "does not trace": ("def f(x): return x @ x", "f(jnp.ones((2, 3)))", "trace failed at training.py:1: TypeError"),
    "no function": ("f = 3", "f(1)", "3"),
    "no list": ("def f(x): return x\nx = 1.0", "f(*x)", "TypeError: f() argument after * must be an iterable"),
    "hostile": ("raise ValueError('<b>\\x1b[2J' + 'n' * 1_000_000)", "f(1)", "ValueError: <b>"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_status_2(run: Run, mistake: str) -> None:
    source, call, said = MISTAKES[mistake]
    status, out, err = run(source, call)
    last = err.rstrip("\n").split("\n")[-1]
    assert (status, out) == (2, "")
    assert last.startswith("jaxstage: ") and said in last
    assert len(last) < 1500 and "\x1b" not in last


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-on", "sometimes"], "--fail-on takes a share"),
        (["-t", "v99:4"], "v99"),
        (["-t", ""], "target"),
        (["--mesh", "data=4,model"], "model"),
        (["--what"], "--help says what there is"),
    ],
)
def test_an_option_that_is_wrong_is_one_line(run: Run, options: list[str], said: str) -> None:
    status, _, err = run(STEP, "step(params, batch)", *options)
    assert status == 2 and said in err.rstrip("\n").split("\n")[-1]


def test_a_call_that_is_none_runs_nothing(run: Run, tmp_path: Path) -> None:
    status, _, err = run(f"open({str(tmp_path / 'ran')!r}, 'w')", "step")
    assert status == 2 and not (tmp_path / "ran").exists() and "runs the import" not in err


def test_ctrl_c_while_the_file_is_imported_ends_it(run: Run) -> None:
    status, out, err = run("raise KeyboardInterrupt", "f(1)")
    assert (status, out, err.splitlines()[-1]) == (130, "", "jaxstage: interrupted")


def test_a_file_that_closes_its_stdout_has_its_findings(run: Run) -> None:
    status, out, err = run(
        "import sys\nsys.stdout.write('said')\nsys.stdout.close()\ndef f(x): return x", "f(1.0)", "--json"
    )
    assert status == 0 and json.loads(out)["findings"] == []
    assert "said" in err


def test_options_of_the_file_go_behind_two_dashes(run: Run) -> None:
    source = "import sys\ndef f(x): return x * len(sys.argv)\nwidth = int(sys.argv[1])"
    assert run(source, "f(jnp.ones(width))", "--json", "--", "7")[0] == 0


def test_a_file_is_opened_and_two_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import jax.numpy as jnp

    saved = []
    for name, power in (("before", 2), ("after", 3)):
        saved.append(tmp_path / f"{name}.json")
        saved[-1].write_text(jaxstage_ext.inspect(lambda x, n=power: (x**n).sum(), jnp.ones(8)).to_json())
    assert main(["open", str(saved[0])]) == 0
    assert "JAXStage inspection of" in capsys.readouterr().out
    assert main(["compare", *map(str, saved), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2
    assert main(["open", str(tmp_path / "none")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_it_leaves_nothing_behind_and_ends_with_threads_running(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    source = "import threading\nthreading.Thread(target=threading.Event().wait, name='forever').start()\n" + STEP
    (tmp_path / "work" / "training.py").write_text(source)
    home = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    done = subprocess.run(
        [sys.executable, "-m", "jaxstage_ext", "findings", "training.py", "step(params, batch)", "--json"],
        cwd=tmp_path / "work", env={**os.environ, **home}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout)["findings"][0]["kind"] == "missing donation"
    assert "threads of your file still running: forever" in done.stderr
    assert done.returncode == 0
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["training.py"]
    assert [*(tmp_path / "home").rglob("*")] == []
