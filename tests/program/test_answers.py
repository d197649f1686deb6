"""Four questions, answered in words: the numbers are counted by hand, on one device and on eight."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program import answers
from jaxstage_ext.program.memory import memory

pytestmark = pytest.mark.usefixtures("no_workers_left")


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def wide(x, v, w):
    a = x @ v
    return a, (jnp.sin(a) @ w).sum()


FIRST = wide.__code__.co_firstlineno
ARGUMENTS = (shape(1024, 8), shape(8, 4096), shape(4096, 8))


def told(inspection: Any) -> dict[str, str]:
    return dict(zip(inspection.answers["question"], inspection.answers["answer"], strict=True))


def test_one_device() -> None:
    """`a` is f32[1024,4096], 16.8 MB, and a result; the arguments are 32.8, 131 and 131 kB."""
    inspection = inspect(wide, *ARGUMENTS)
    said = told(inspection)
    assert "peaks of this kernel's" in said["What bounds it?"] or "Bound by" in said["What bounds it?"]
    assert said["Does it fit?"] == inspection.memory.fit.text
    holds = said["Which line holds the most memory?"]
    assert f":{FIRST + 1} holds " in holds or f":{FIRST + 2} holds " in holds
    assert "16.8 MB" in holds and holds.endswith("arguments hold 295 kB.")
    assert said["Which collective costs the most?"] == inspect(jnp.tanh, 1.0).collectives.headline


def test_a_share_counts_every_branch_where_the_least_time_has_one() -> None:
    """The least time has the sine's branch; the product is in the other one."""
    needs("v5e:2x2")

    def choose(flag, x, w):
        return jax.lax.cond(flag, lambda a: a @ w, jnp.sin, jnp.tanh(x))

    arguments = jax.ShapeDtypeStruct((), bool), shape(1024, 1024), shape(1024, 1024)
    said = told(inspect(choose, *arguments, target="v5e:2x2"))["What bounds it?"]
    assert " of the time with every branch counted." in said


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
    assert found.text.startswith("One collective: all-reduce of 16.4 kB over model")
    assert int(found.line.rpartition(":")[2]) == sharded.__code__.co_firstlineno + 1
    assert answers.fit(inspection.program).state == "yes"


def test_what_has_no_answer_says_why() -> None:
    said = told(inspect(wide, *ARGUMENTS, stage="lower"))
    for question in ("What bounds it?", "Which collective costs the most?"):
        assert said[question] == "unknown: wide has no optimised HLO to count; inspect it with stage='compile'"


def test_where_arguments_take_most_it_says_so() -> None:
    said = told(inspect(lambda x: x.sum(), shape(1024, 1024)))["Which line holds the most memory?"]
    assert said.startswith("Arguments hold 4.19 MB of the ") and said.endswith(" (all output).")


def test_an_empty_program() -> None:
    said = told(inspect(lambda: None))
    assert said["What bounds it?"].startswith(("Nothing is computed", "Can't tell what bounds it"))
    assert said["Which line holds the most memory?"].startswith("None: 0 B live at the peak; there are no arguments")


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
