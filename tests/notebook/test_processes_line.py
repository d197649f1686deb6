"""The line of `%processes` as data, what it refuses, and what the magic says without a job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook.lines.processes_line import ProcessesLine, parsed
from jaxstage_ext.processes.engines import engine_job, engine_start
from jaxstage_ext.processes.engines import engines_wording as wording

LINES = {
    "": ProcessesLine("status"),
    "status": ProcessesLine("status"),
    "start 2": ProcessesLine("start", "2", 2),
    "start --devices 4 3 --timeout=90": ProcessesLine("start", "3", 3, devices=4, timeout=90),
    "restart --timeout 5": ProcessesLine("restart", timeout=5),
    "use rc": ProcessesLine("use", "rc"),
    "end 0": ProcessesLine("end", "0", 0),
    "guard off": ProcessesLine("guard", "off"),
    "where": ProcessesLine("where"),
}
REFUSED = {
    "begin": "start",
    "start": "%processes start 2",
    "start 1": "2 to 64",
    "start two": "'two'",
    "start 2 3": "%processes start 2",
    "start 2 --threads 3": "--devices and --timeout",
    "start 2 --devices": "1 to 64",
    "start 2 --devices 0": "1 to 64",
    "start 99999999999999999999": "2 to 64",
    "stop now": "'now'",
    "stop --devices 2": "--devices",
    "use": "ipyparallel.Client",
    "guard": "on or off",
    "guard maybe": "'maybe'",
    "end -1": "-1",
    "\udcff": "udcff",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_data(line: str) -> None:
    assert parsed(line) == LINES[line]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_makes_no_sense_is_refused_in_one_line(line: str) -> None:
    with pytest.raises(UsageError) as refused:
        parsed(line)
    assert REFUSED[line] in str(refused.value) and "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    former = engine_job.set_job(None)
    with fresh_shell() as made:
        yield made
    engine_job.set_job(former)


@pytest.mark.parametrize("line", ["", "where", "end 0", "guard on", "restart", "stop"])
def test_without_a_job_one_line_says_how_to_start_one(shell: Shell, line: str) -> None:
    seen = shell.run(f"%processes {line}")
    assert isinstance(seen.error, UsageError) and str(seen.error) == wording.NO_JOB


def test_what_is_not_a_client_is_refused(shell: Shell) -> None:
    for name in ("x", "nothing_of_this_name"):
        seen = shell.run(f"%processes use {name}")
        assert isinstance(seen.error, UsageError) and name in str(seen.error)


def test_without_ipyparallel_one_line_says_how_to_get_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_start.importlib.util, "find_spec", lambda name: None)
    for line in ("start 2", "use x"):
        assert "pip install 'jaxstage-ext[processes]'" in str(shell.run(f"%processes {line}").error)


def test_several_devices_are_refused_where_jax_deadlocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured: fifty programs with collectives hang for ever with 0.10.2, and not with 0.12."""
    import jax

    monkeypatch.setattr(jax, "__version_info__", (0, 10, 2))
    with pytest.raises(engine_start.ProcessesError, match="deadlock"):
        engine_start.check_devices(2)
    engine_start.check_devices(1)
    monkeypatch.setattr(jax, "__version_info__", (0, 12, 0, 1))
    engine_start.check_devices(2)


def test_help_has_every_command(shell: Shell) -> None:
    text = shell.run("%processes?").text + (shell.ip.find_line_magic("processes").__doc__ or "")
    assert all(f"%processes {command}" in text for command in ("start", "use", "where", "guard", "end", "stop"))
