"""Values in the host's memory: in the memory and roofline views of a program for a device that has its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import SingleDeviceSharding

import jaxstage_ext
from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.ceilings import Doubt, Outcome

pytestmark = pytest.mark.usefixtures("kept_answers")

N = 256 * 256 * 4
TARGETS = ["v5e:2x2", "h100"]


def offloaded(w: Any, x: Any) -> Any:
    return jax.device_put(w, jax.memory.Space.Device) + x


def to_host(x: Any) -> Any:
    return jax.device_put(x * 2, jax.memory.Space.Host)


def on_host() -> Any:
    return SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")


@cache
def inspected(fn: Any, target: str, donated: bool = False) -> Any:
    needs(target)
    x = jnp.ones((256, 256))
    args = (jax.device_put(x, on_host()), x) if fn is offloaded else (x,)
    return jaxstage_ext.inspect(jax.jit(fn, donate_argnums=0) if donated else fn, *args, target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fn", [offloaded, to_host])
def test_transfers_count_as_host_memory_and_not_as_bandwidth_of_the_device(fn: Any, target: str) -> None:
    """By hand: one array of 256 KiB crosses, and is read or written once in the device's memory."""
    cost = inspected(fn, target).cost
    roof = cost.roofline
    [crossing] = [row for row, opcode in enumerate(roof.table["host"]) if opcode]
    assert roof.host[crossing] == N
    on_device = roof.moved[crossing] - roof.near[crossing] - roof.host[crossing]
    assert roof.seconds[crossing] == pytest.approx(on_device / roof.bandwidth)
    assert cost_wording.stays(0, N / roof.moved.sum()) in cost.headline
    assert roof.outcome is Outcome.UNKNOWN_WORK
    assert [(reason.doubt, reason.instructions) for reason in roof.reasons] == [(Doubt.HOST, 1)]
    assert cost_wording.in_host_memory(N) in str(roof)


def test_a_program_without_host_memory_has_no_such_column() -> None:
    roof = jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((64, 64))).cost.roofline
    assert "host" not in roof.table.columns
    assert "host memory" not in str(roof)


@pytest.mark.parametrize("target", TARGETS)
def test_memory_says_where_each_argument_and_result_is(target: str) -> None:
    memory = inspected(offloaded, target).memory
    own = memory.spaces[0].name
    assert list(memory.arguments["memory"]) == ["host memory", own]
    assert list(inspected(to_host, target).memory.results["memory"]) == ["host memory"]
    assert memory.space("host memory").reserved == N
    [line] = [note for note in str(memory).split("\n") if note.startswith("Peak: XLA says")]
    assert "XLA adds what is held in host memory" in line


@pytest.mark.parametrize("target", TARGETS)
def test_donation_is_advised_only_within_one_memory(target: str) -> None:
    """XLA puts a result in the memory of the argument that it reuses: of `w` that would be the host's."""
    assert "with_donation('x')" in str(inspected(offloaded, target).memory.advice)
    assert "donation" not in str(inspected(to_host, target).memory.advice)
    donated = inspected(offloaded, target, donated=True).memory
    assert list(donated.results["reuses memory of"]) == ["w"]
    assert list(donated.results["memory"]) == ["host memory"]


@pytest.mark.parametrize("target", ["v5e:2x2", "h100"])
def test_slices_of_arrays_in_host_memory_are_not_denied(target: str) -> None:
    """Each layer's `h` goes to the host and back, by a dynamic slice of the stacked array: no copy does."""

    def layer(x: Any, w: Any) -> Any:
        h = checkpoint_name(jnp.tanh(x @ w), "h")
        return jnp.sin(h @ w), None

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host"
    )
    of = jax.ShapeDtypeStruct((4, 256, 256), jnp.float32), jax.ShapeDtypeStruct((256, 256), jnp.float32)
    gradient = jax.grad(lambda ws, x: jax.lax.scan(jax.checkpoint(layer, policy=policy), x, ws)[0].sum())
    needs(target)
    found = jaxstage_ext.inspect(jax.jit(gradient), *of, target=target)
    text = str(found.layouts.copies)
    assert "host's memory" in text and "or moves to or from" not in text
    assert "to the host's memory" in str(found.effects)
