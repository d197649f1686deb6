"""Each way in which two processes come to have different programs is shown by `--processes`: a real job of two.

The oracle of a line is the comment with the case's name on it; that of a cause is how the case was written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from staged_cells import Told, merged, stage_in_job

from jaxstage_ext.processes.arrival import ComparedPart
from jaxstage_ext.processes.disagreement import DisagreementCause as Cause
from jaxstage_ext.processes.staged.process_staging import StagingErrorKind

CELLS = {
    "alike": """%%compile --processes
@jax.jit
def step(x):
    return (x * 2).sum()
step(ones())""",
    "constant": """%%compile --processes
scale = jax.process_index() + 1
@jax.jit
def step(x):
    return (x * scale).sum()  # constant
step(ones())""",
    "shape": """%%lower --processes
rows = 8 if jax.process_index() == 0 else 4
@jax.jit
def step(x):
    return x.sum()
step(ones(rows))  # shape""",
    "order": """%%lower --processes
def high(x): return x.max()
def low(x): return x.min()
first = jax.jit(high if jax.process_index() == 0 else low)
first(ones())  # order""",
    "collective": """%%compile --processes
@jax.jit
@jax.shard_map(mesh=mesh(), in_specs=P("x"), out_specs=P())
def step(x):
    total = jax.lax.psum(x.sum(), "x")
    if jax.process_index() == 0:
        total = jax.lax.pmean(total + jax.lax.psum(x.max(), "x"), ())  # collective
    return total
step(ones())""",
    "error": """%%compile --processes
@jax.jit
def step(x):
    if jax.process_index() == 1:
        raise ValueError("bad batch")  # error
    return x.sum()
step(ones())""",
    "error_in_cell": """%%compile --processes
if jax.process_index() == 0:
    raise ValueError("no data")  # error_in_cell
jnp.sin(ones())""",
    "traced": """%%trace --processes
scale = jax.process_index() + 1
def step(x):
    return (x * scale).sum()  # traced
step(ones())""",
    "traced_shape": """%%trace --processes
rows = 8 if jax.process_index() == 0 else 4
def step(x):
    return x.sum()
step(ones(rows))  # traced_shape""",
    "options": """%%compile --processes
fast = jax.process_index() == 0
step = jax.jit(lambda x: x.sum(), compiler_options={"xla_cpu_enable_fast_math": fast})
step(ones())  # options""",
    "own": """%%compile --processes
scale = jax.process_index() + 1
def own(x):
    return x * scale
own(jnp.ones(3))""",
    "own_alike": "%%compile --processes\njnp.sin(jnp.ones(3))",
    "name": "%%compile --processes\nstep(params)",
}
CAUSES = {
    "constant": Cause.PROCESS_BRANCH,
    "shape": Cause.LOCAL_SHAPE,
    "order": Cause.PROCESS_BRANCH,
    "collective": Cause.PROCESS_BRANCH,
    "error": Cause.ERROR,
    "traced": Cause.PROCESS_BRANCH,
    "traced_shape": Cause.LOCAL_SHAPE,
    "options": Cause.OPTIONS,
}


FLAGS = ({"XLA_FLAGS": ""}, {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"})
"""The environments of the two processes of a second job."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return stage_in_job(CELLS, tmp_path_factory.mktemp("staged"))


def line_of(name: str) -> str:
    """Where a case says that its difference is."""
    lines = CELLS[name].split("\n")
    return (
        f"In [{list(CELLS).index(name) + 2}]:{next(n for n, line in enumerate(lines, 1) if line.endswith(f'# {name}'))}"
    )


@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_and_the_line_are_named(told: Told, name: str) -> None:
    found = merged(told, name)
    assert found.processes is not None and not found.processes.agree
    [why] = found.processes.disagreements
    place = why.place if why.place is not None else why.ends[1].place
    assert (why.cause, str(place)) == (CAUSES[name], line_of(name))
    assert list(found.targets) == ["process 0", "process 1"]
    assert any(line_of(name) in note for note in found.summary()["notes"])


def test_processes_that_agree_are_one(told: Told) -> None:
    for name in ("alike", "own_alike"):
        found = merged(told, name)
        assert found.processes is not None and found.processes.agree, found.processes
        assert list(found.targets) == ["local"] and found.processes.groups[0].processes == (0, 1)
    assert merged(told, "alike").processes.groups[0].call.spans  # type: ignore[union-attr]


def test_lines_that_differ_are_in_the_comparison_of_the_groups(told: Told) -> None:
    found = merged(told, "constant")
    changed = found.targets["process 1"].difference(found.targets["process 0"]).text("stablehlo")
    assert "dense<1.0" in changed and "dense<2.0" in changed
    assert [row["target"] for row in found.compare().rows()] == ["process 0", "process 1"]
    assert found.processes is not None
    assert {ComparedPart.STABLEHLO, ComparedPart.OPTIONS} <= set(found.processes.groups[0].call.digests)


def test_a_program_of_one_process_may_differ(told: Told) -> None:
    found = merged(told, "own")
    assert found.processes is not None and len(found.processes.groups) == 2
    assert found.processes.groups[0].call.spans is False
    assert any("without harm" in note for note in found.summary()["notes"])


def test_collectives_are_counted(told: Told) -> None:
    [why] = merged(told, "collective").processes.disagreements  # type: ignore[union-attr]
    assert why.collectives[0] > why.collectives[1]


def test_an_error_in_one_cell_leaves_the_other_process_shown(told: Told) -> None:
    found = merged(told, "error_in_cell")
    assert found.processes is not None and found.error is None and list(found.targets) == ["local"]
    error = found.processes.errors[0]
    assert (error.message, error.place) == ("no data", line_of("error_in_cell"))


def test_a_name_that_no_process_has_is_known_as_such(told: Told) -> None:
    error = told[1]["name"]["staging"]["error"]
    assert (error["kind"], error["name"]) == (StagingErrorKind.NAME.value, "params")


MERGE = """
import json, sys
from jax._src import xla_bridge
from staged_cells import merged
from jaxstage_ext.panel.panel_state import state_of
from jaxstage_ext.panel.saving.first_replies import keep_first_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.panel.showing.mimebundle import static_bundle
for name in ("constant", "alike", "shape", "error"):
    found = merged(json.load(open(sys.argv[1])), name)
    programs = [one.program for one in found.targets.values()]
    state_of(programs, False), static_bundle(programs, "model", True), found.compare(), repr(found.processes)
    keep_first_replies(programs, KeptReplies())
print("devices", list(xla_bridge._backends))
"""


@pytest.mark.once("asks whether a device is opened, which is decided by our imports")
def test_the_kernel_takes_no_device_from_the_processes(told: Told, tmp_path: Path) -> None:
    (tmp_path / "told").write_text(json.dumps(told))
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[1] / "helpers")])
    ran = subprocess.run(
        [sys.executable, "-c", MERGE, str(tmp_path / "told")],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": path},
    )
    assert ran.stdout.endswith("devices []\n"), ran.stdout[-500:] + ran.stderr[-2000:]


@pytest.mark.once("a second job of two processes; what it compares is asked of both versions by the first")
def test_other_flags_are_said_with_what_each_process_has(tmp_path: Path) -> None:
    told = stage_in_job({"alike": CELLS["alike"]}, tmp_path, FLAGS)
    found = merged(told, "alike")
    [why] = found.processes.disagreements  # type: ignore[union-attr]
    assert why.cause is Cause.FLAGS
    assert [FLAGS[1]["XLA_FLAGS"] in why.fields["XLA flags"][process] for process in (0, 1)] == [False, True]
    assert any(FLAGS[1]["XLA_FLAGS"] in note for note in found.summary()["notes"])
