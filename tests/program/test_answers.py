"""Four questions, answered in words: the numbers are counted by hand, on one device and on eight."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program.questions import answer_wording, answers
from jaxstage_ext.program.questions.answer_wording import Holding, Measure
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.report.unavailable import Unavailable

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def wide(x, v, w):
    a = x @ v
    return a, (jnp.sin(a) @ w).sum()


FIRST = wide.__code__.co_firstlineno
NO_HLO = "wide has no optimised HLO to count; inspect it with stage='compile'"
ARGUMENTS = (shape(1024, 8), shape(8, 4096), shape(4096, 8))


def told(inspection: Any) -> dict[str, str]:
    """The answers by the names of their questions."""
    return dict(zip(answers.QUESTIONS, inspection.answers["answer"], strict=True))


def test_one_device() -> None:
    """`a` is f32[1024,4096], 16.8 MB, and a result; the arguments are 32.8, 131 and 131 kB."""
    inspection = inspect(wide, *ARGUMENTS)
    said = told(inspection)
    assert inspection.cost.roofline.verdict in said["bound"]
    assert said["fit"] == inspection.memory.fit.text
    most = answers.memory(inspection.program)
    assert most.text == said["memory"] and int(most.line.rpartition(":")[2]) in (FIRST + 1, FIRST + 2)
    assert all(figure in said["memory"] for figure in (most.line, "16.8 MB", "295 kB"))
    assert said["collective"] == inspect(jnp.tanh, 1.0).collectives.headline


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_share_counts_every_branch_where_the_least_time_has_one() -> None:
    """The least time has the sine's branch; the product is in the other one."""
    needs("v5e:2x2")

    def choose(flag, x, w):
        return jax.lax.cond(flag, lambda a: a @ w, jnp.sin, jnp.tanh(x))

    arguments = jax.ShapeDtypeStruct((), bool), shape(1024, 1024), shape(1024, 1024)
    said = told(inspect(choose, *arguments, target="v5e:2x2"))["bound"]
    assert Measure.ALL_BRANCHES.value in said


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4", "h100:8"])
def test_eight_devices(target: str) -> None:
    """`b` sums over the 4096, which `model` cuts: f32[1024/2,8] on a device is added up over four: 16.4 kB."""
    needs(target)
    mesh, specs = {"data": 2, "model": 4}, (P("data"), P(None, "model"), P("model"))

    def sharded(x, v, w):
        return jnp.sin(jnp.sin(x @ v) @ w)

    inspection = inspect(sharded, *ARGUMENTS, target=target, mesh=mesh, in_specs=specs, out_specs=P("data"))
    found = answers.collective(inspection.program)
    assert found.text == inspection.collectives.headline
    [row] = inspection.collectives.rows
    assert (row.op.kind, row.payload, [axis.name for axis in row.groups.axes]) == (
        "all-reduce",
        1024 // 2 * 8 * 4,
        ["model"],
    )
    assert "16.4 kB" in found.text
    assert int(found.line.rpartition(":")[2]) == sharded.__code__.co_firstlineno + 1
    assert answers.fit(inspection.program).state == "yes"


def test_what_has_no_answer_says_why() -> None:
    said = told(inspect(wide, *ARGUMENTS, stage="lower"))
    for question in ("bound", "collective"):
        assert said[question] == answer_wording.unknown(Unavailable(NO_HLO))


def test_where_arguments_take_most_it_says_so() -> None:
    inspection = inspect(lambda x: x.sum(), shape(1024, 1024))
    line, peak = answers.memory(inspection.program).line, inspection.memory.space().peak
    assert told(inspection)["memory"] == answer_wording.holds(Holding(line, {Kind.OUTPUT: 4}, peak, 1024 * 1024 * 4))


def test_an_empty_program() -> None:
    inspection = inspect(lambda: None)
    assert inspection.cost.roofline.bounded_by is Ceiling.UNKNOWN
    assert told(inspection)["memory"] == answer_wording.nothing_held(0, 0)


def test_the_panel_asks_one_by_one() -> None:
    inspection = inspect(jnp.tanh, 1.0)

    def ask(question: str) -> dict[str, Any]:
        while True:
            result, _ = dispatch.answer([inspection.program], "answer", {"call": 0, "question": question})
            if "pending" not in result:
                return result

    assert ask("collective")["text"] == inspect(jnp.tanh, 1.0).collectives.headline
    assert not memory.is_known(inspection.program)
    assert ask("fit")["text"] == inspection.memory.fit.text
    with pytest.raises(BadRequest, match="there is no question 'price'"):
        ask("price")
