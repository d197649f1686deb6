"""What goes to the host in every iteration, and the same programs that go there once."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax import lax
from jax.sharding import SingleDeviceSharding

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

STEPS = 50
X = jax.ShapeDtypeStruct((256, 256), jnp.float32)


def measured(x: np.ndarray) -> np.float32:
    return np.float32(np.linalg.norm(x))


def norm(x: Any) -> Any:
    return jax.pure_callback(measured, jax.ShapeDtypeStruct((), jnp.float32), x)


def called(x: Any) -> Any:
    return lax.scan(lambda x, _: (jnp.sin(x), norm(x)), x, None, length=STEPS)


def called_once(x: Any) -> Any:
    x, _ = lax.scan(lambda x, _: (jnp.sin(x), None), x, None, length=STEPS)
    return x, norm(x)


def printed(x: Any) -> Any:
    def body(x: Any, i: Any) -> Any:
        jax.debug.print("{}", x[0, 0])
        return jnp.sin(x), None

    return lax.scan(body, x, jnp.arange(STEPS))


def printed_seldom(x: Any) -> Any:
    def body(x: Any, i: Any) -> Any:
        lax.cond(i % 10 == 0, lambda: jax.debug.print("{}", x[0, 0]), lambda: None)
        return jnp.sin(x), None

    return lax.scan(body, x, jnp.arange(STEPS))


def found_in(function: Any, *arguments: Any, target: str = "cpu:1") -> list[FoundIn]:
    needs(target)
    found = inspect(function, *arguments, target=target).findings
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.HOST_TRANSFER]


def test_python_that_is_called_in_every_iteration() -> None:
    [found] = found_in(called, X)
    assert found.line.endswith(f":{norm.__code__.co_firstlineno + 1}") and found.names == ("measured",)
    assert f"{STEPS} times" in found.text and found.stake.measure is StakeMeasure.HOST and found.rows["jaxpr"]
    assert not found.can_be_tried
    assert found_in(called_once, X) == []


def test_a_print_in_every_iteration() -> None:
    [found] = found_in(printed, X)
    assert found.line.endswith(f":{printed.__code__.co_firstlineno + 2}")
    made = found.try_()
    assert "callback" not in str(made.inspection.program.documents["hlo"].text)
    # what a print takes is known in a run alone: the Python that can be timed without one is no part of it
    assert made.realised is None and made.outcome is TrialOutcome.UNKNOWN
    assert found_in(printed_seldom, X) == []


def on_host(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    host = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=host)


def fetched(table: Any, x: Any) -> Any:
    def body(x: Any, _: Any) -> Any:
        return x + jax.device_put(table, jax.memory.Space.Device), None

    return lax.scan(body, x, None, length=STEPS)


def fetched_before(table: Any, x: Any) -> Any:
    table = jax.device_put(table, jax.memory.Space.Device)
    return lax.scan(lambda x, _: (x + table, None), x, None, length=STEPS)


def fetched_in_turn(tables: Any, x: Any) -> Any:
    return lax.scan(lambda x, one: (x + jax.device_put(one, jax.memory.Space.Device), None), x, tables)


def test_an_array_that_every_iteration_copies_from_the_host() -> None:
    table = on_host((256, 256))
    [found] = found_in(fetched, table, X, target="h100")
    assert found.line.endswith(f":{fetched.__code__.co_firstlineno + 2}")
    assert found.stake.most == 256 * 256 * 4 * (STEPS - 1)
    assert found_in(fetched_before, table, X, target="h100") == []
    assert found_in(fetched_in_turn, on_host((STEPS, 256, 256)), X, target="h100") == []


def fetched_whole(tables: Any, x: Any) -> Any:
    tables, x = jax.device_put((tables, x), jax.memory.Space.Device)
    return lax.scan(lambda x, one: (jnp.tanh(x @ one), None), x, tables)


@pytest.mark.parametrize("target", ["h100", "v5e:1x1"])
def test_an_array_that_is_copied_whole_before_a_loop_that_reads_its_parts(target: str) -> None:
    """The trial copies one matrix of eight at a time, of which a device holds two at most."""
    count, matrix = 8, 1024 * 1024 * 4
    made = found_in(fetched_whole, on_host((count, 1024, 1024)), on_host((64, 1024)), target=target)
    [found] = made
    assert found.line.endswith(f":{fetched_whole.__code__.co_firstlineno + 1}")
    assert found.stake.most == matrix * count
    trial = found.try_()
    if found.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert matrix * (count - 2) <= trial.realised < matrix * count + 1024


def update(table: Any, rows: Any) -> Any:
    return table.at[jnp.arange(5)].set(rows)


def test_a_result_that_the_host_s_memory_has_to_hold() -> None:
    """XLA refuses it (E1200, openxla/xla#34565) unless out_shardings says so."""
    needs("h100")
    table, rows = on_host((1000, 64)), jax.ShapeDtypeStruct((5, 64), jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError) as failed:
        inspect(update, table, rows, target="h100")
    [found] = (one for one in failed.value.inspection.findings if one.kind is FindingKind.HOST_TRANSFER)
    assert found.names == ("table",) and found.line.endswith(f":{update.__code__.co_firstlineno + 1}")
    assert found.try_().inspection.error is None
    kept = jax.jit(update, out_shardings=table.sharding)
    assert found_in(kept, table, rows, target="h100") == []
