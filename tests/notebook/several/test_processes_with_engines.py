"""`%%compile --processes` with two real engines: every kind of disagreement, tabs, a death, and what is left behind.

The oracle of a line is the comment with the case's name on it; that of a cause is how the case was written.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_jobs import SETUP, engine_job_of, run_in_all
from magic_shell import Shell, fresh_shell

from jaxstage_ext import Inspection
from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.processes.disagreement import DisagreementCause as Cause
from jaxstage_ext.processes.ended_wording import no_programs
from jaxstage_ext.processes.engines.engine_start import StartedJob
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import StagingErrorKind
from jaxstage_ext.processes.staged.staged_wording import begun

pytestmark = pytest.mark.once(
    "engines, processes and the wire, which are ours; real jobs of both versions are in "
    "tests/processes/test_staged_divergences.py"
)
CELLS = {
    "constant": """%%compile --processes -o ins
scale = jax.process_index() + 1
@jax.jit
def step(x):
    return (x * scale).sum()  # constant
step(x)""",
    "shape": """%%lower --processes -o ins
size = 8 if jax.process_index() == 0 else 4
sharding = NamedSharding(mesh, PartitionSpec("x"))
y = jax.make_array_from_callback((size,), sharding, lambda i: np.ones(size)[i])
total(y)  # shape""",
    "order": """%%trace --processes -o ins
def high(x): return x.max()
def low(x): return x.min()
first = jax.jit(high if jax.process_index() == 0 else low)
first(x)  # order""",
    "collective": """%%lower --processes -o ins
@jax.jit
@jax.shard_map(mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec())
def step(x):
    total = jax.lax.psum(x.sum(), "x")
    if jax.process_index() == 0:
        total = total + jax.lax.psum(x.max(), "x")  # collective
    return total
step(x)""",
    "error": """%%compile --processes -o ins
@jax.jit
def step(x):
    if jax.process_index() == 1:
        raise ValueError("bad batch")  # error
    return x.sum()
step(x)""",
}
CAUSES = {"constant": Cause.PROCESS_BRANCH, "shape": Cause.LOCAL_SHAPE, "order": Cause.PROCESS_BRANCH}
CAUSES |= {"collective": Cause.PROCESS_BRANCH, "error": Cause.ERROR}


@pytest.fixture(scope="module")
def job() -> Iterator[Any]:
    with engine_job_of(2) as job:
        run_in_all(job, SETUP)
        yield job


@pytest.fixture(scope="module")
def shell(job: Any) -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell


def inspection(shell: Shell, cell: str) -> Inspection:
    seen = shell.run(cell)
    assert seen.ok, seen.text
    found = shell["ins"]
    assert isinstance(found, Inspection)
    return found


@pytest.mark.parametrize("name", CELLS)
def test_each_kind_of_disagreement_has_its_cause_and_line(shell: Shell, name: str) -> None:
    found = inspection(shell, CELLS[name])
    lines = CELLS[name].split("\n")
    line = next(at for at, text in enumerate(lines, 1) if text.endswith(f"# {name}"))
    assert found.processes is not None and list(found.targets) == ["process 0", "process 1"]
    [why] = found.processes.disagreements
    place = str(why.place) if why.place is not None else why.ends[1].place
    assert (why.cause, place) == (CAUSES[name], f"In [{shell.ip.execution_count - 1}]:{line}")


@pytest.mark.usefixtures("patient_requests")
def test_processes_that_agree_are_shown_as_one_whose_tabs_a_process_answers(shell: Shell) -> None:
    found = inspection(shell, "%%compile --processes -o ins\ntotal(x)")
    assert found.processes is not None and found.processes.agree and list(found.targets) == ["local"]
    assert found.processes.groups[0].call.spans
    result, _ = dispatch.answer([found.program], "sharding_map", {"call": 0, "all": False, "value": 0})
    assert (result["shape"], result["mesh"]) == ([8], {"names": ["x"], "sizes": [2]})
    with pytest.raises(ValueError, match=r"process [01] "):
        _ = found.memory


SHARED = """%%compile --processes -o ins
doubled = jax.jit(lambda x: (x + x).sum())
doubled(x)"""


def compiler_of(found: Inspection) -> int:
    """The process that compiled what both have; its seconds are those of both."""
    assert found.processes is not None and found.processes.agree
    rows = list(found.processes.table().rows())
    [compiled_by], [_] = ({row[name] for row in rows} for name in ("compiled by", "compile"))
    assert wording.read_from(compiled_by, (1 - compiled_by,)) in found.summary()["notes"]
    return int(compiled_by)


def test_one_process_compiles_and_the_other_reads_and_runs_what_it_made(shell: Shell, job: Any) -> None:
    before = executables(job)
    found = inspection(shell, SHARED)
    compiler, shared = compiler_of(found), executables(job) - before
    assert len(shared) == 1
    assert found.summary()["stages"][-1]["note"] is None, "what is shown is of the process that compiled it"
    run_in_all(job, "value = float(np.asarray(doubled(x).addressable_shards[0].data))")
    assert job.client[:].pull("value", block=True) == [56, 56]
    assert compiler_of(inspection(shell, SHARED)) == compiler and executables(job) - before == shared


def test_a_damaged_executable_is_compiled_anew(shell: Shell, job: Any) -> None:
    before = executables(job)
    inspection(shell, changed := SHARED.replace("x + x", "x + 2 * x"))
    [file] = executables(job) - before
    whole = file.read_bytes()
    file.write_bytes(whole[:-500] + bytes(500))
    compiler_of(inspection(shell, changed))
    assert file.read_bytes()[-500:] != bytes(500) and executables(job) - before == {file}


def test_where_the_cache_is_off_each_process_compiles(shell: Shell, job: Any) -> None:
    before = executables(job)
    shell.run("%config JAXStage.cache = False")
    try:
        found = inspection(shell, SHARED.replace("x + x", "x + 4 * x"))
    finally:
        shell.run("%config JAXStage.cache = True")
    assert wording.each_compiled((0, 1), Sharing.OPTIONS) in found.summary()["notes"] and executables(job) == before


def executables(job: StartedJob) -> set[Path]:
    """The files of executables that its processes share."""
    return set((job._own.folder / "executables").glob("*.jaxstage"))


def test_the_calls_are_not_run(shell: Shell) -> None:
    cell = """%%compile --processes -o ins
ran = []
def noted(x):
    jax.debug.callback(lambda: ran.append(1))
    return x.sum()
noted(np.ones(3))"""
    inspection(shell, cell)
    asked = shell.run("%%lower --processes\njax.effects_barrier()\nprint('ran', ran)\ntotal(x)")
    assert "ran []" in asked.text


@pytest.mark.usefixtures("patient_requests")
def test_a_process_that_has_died_is_said_and_the_other_is_shown(shell: Shell, job: Any) -> None:
    shown = inspection(shell, "%%lower --processes 1 -o ins\ntotal(x)")
    os.kill(job.processes[1].pid, signal.SIGKILL)
    found = inspection(shell, "%%lower --processes -o ins\ntotal(x)")
    assert found.processes is not None and not found.processes.agree
    assert found.processes.errors[1].kind is StagingErrorKind.ENDED
    assert [group.processes for group in found.processes.groups] == [(0,), (1,)]
    said = f"{begun(no_programs((1,), 'killed by SIGKILL'))}."
    assert said in found.processes.notes() and not found.processes.disagreements
    with pytest.raises((BadRequest, ValueError), match="process 1"):
        dispatch.answer([shown.program], "sharding_map", {"call": 0, "all": False, "value": 0})
