"""The compile logs of real engines as one table."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_jobs import begin_in, run_in_all, until
from magic_shell import fresh_shell

import jaxstage_ext
from jaxstage_ext.api import job_compile_history
from jaxstage_ext.processes.engines.engine_start import StartedJob
from jaxstage_ext.processes.engines.whereabouts import EngineActivity
from jaxstage_ext.processes.gathered_compiles import compile_details
from jaxstage_ext.processes.job_compiles import MergedCompiles

OWN = """\
def triple(x):
    return (x * 3).sum()
def halve(x):
    return (x / 2).max()
for function in [triple, halve][:: 1 if jax.process_index() == 0 else -1]:
    jax.jit(function).lower(x).compile()
"""


def test_what_engines_compiled_is_one_log_with_their_order(engines: StartedJob) -> None:
    run_in_all(engines, OWN)
    made = jaxstage_ext.compiles(processes=True)
    assert [log["pid"] for log in made.logs] == [one.pid for one in engines.processes] and made.missing == {}
    found = {one.name[0]: one for one in made.programs}
    assert {"triple", "halve"} <= found.keys()
    assert all(found[name].spans == (0, 1) and sorted(found[name].rows) == [0, 1] for name in ("triple", "halve"))
    waited = made.waited(found["triple"])
    assert made.shares_clock and waited is not None and 0 <= waited < 60
    own = [[row for row in log["rows"] if row["program"] in ("triple", "halve")] for log in made.logs]
    difference = MergedCompiles(
        tuple({**log, "rows": rows} for log, rows in zip(made.logs, own, strict=True))
    ).order_difference
    assert difference is not None
    assert {name[0]: who for name, who in difference.compiled.items()} == {"triple": (0,), "halve": (1,)}


BUSY = """\
def waits(path):
    import os, time
    while not os.path.exists(path):
        time.sleep(0.01)
waits({path!r})
"""


def test_a_process_that_hangs_is_not_waited_for_and_said_where_it_is(
    engines: StartedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_compile_history, "PATIENCE", 0.3)
    path = tmp_path / "go on"
    running = begin_in(engines, 1, BUSY.format(path=str(path)))
    until(lambda: engines.where()[1].activity is EngineActivity.PYTHON)
    made = jaxstage_ext.compiles(processes=True)
    assert [log["process"] for log in made.logs] == [0] and made.missing.keys() == {1}
    assert "waits(" in made.missing[1] or ":4" in made.missing[1], made.missing
    path.touch()
    assert running.get(30) is not None
    assert jaxstage_ext.compiles(processes=True).missing == {}


def test_why_it_compiled_is_asked_of_the_process(engines: StartedJob) -> None:
    run_in_all(engines, "again = jax.jit(lambda n: n + 1)\nagain(1.0)\nagain(1)")
    made = jaxstage_ext.compiles(processes=True)
    number = max(row["number"] for row in made.logs[1]["rows"] if row["program"].startswith("<lambda>"))
    told = compile_details(engines.ask, 1, number)
    assert ["n", "float32", "int32"] in [each[1:] for each in told["differences"]] and told["why"]
    assert ["outcome", "compiled"] in told["facts"]


def test_the_magic_shows_and_gives_it(engines: StartedJob, tmp_path: Path) -> None:
    with fresh_shell() as shell:
        seen = shell.run("%compiles --processes")
        assert seen.ok and "2 processes" in seen.text, seen.error
        assert shell.run("made = %compiles --processes").ok and len(shell.run("made.table()").text) > 0
        file = tmp_path / "compiles.json"
        assert shell.run(f"%compiles --processes --json {file}").ok and '"process"' in file.read_text()
