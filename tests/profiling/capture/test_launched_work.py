"""What a capture holds of work whose results nobody waits for. The oracle is how often each function was called."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxstage_ext import Timeline, profile
from jaxstage_ext.core.own_work import WAIT_MODULE
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.headline import Bound
from jaxstage_ext.report.recording import Loss

X = jnp.ones((600, 600))


@jax.jit
def product(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x)


@jax.jit
def sine(x: jax.Array) -> jax.Array:
    return jnp.sin(x) @ x


def drops_all() -> None:
    for _ in range(5):
        product(X)


def keeps_the_last() -> jax.Array:
    for _ in range(5):
        last = product(X)
    return last


def binds_underscore() -> None:
    _ = product(X)


def calls_two() -> None:
    for _ in range(3):
        product(X)
        sine(X)


def waits_for_one() -> None:
    for _ in range(3):
        product(X)
    sine(X[:2, :2]).block_until_ready()


def timeline(run: Callable[[], object]) -> Timeline:
    found = profile(run, warm=True)[1].timeline
    assert found is not None
    return found


def runs(made: Timeline) -> Counter[str]:
    """How often each module ran, by its runs on all devices."""
    events, ops = made.events, made.recording.ops
    with_op = events.op >= 0
    pairs = zip(ops.module[events.op[with_op]].tolist(), events.run[with_op].tolist(), strict=True)
    return Counter(made.recording.modules[module].name for module, _ in set(pairs))


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (drops_all, {"jit_product": 5}),
        (keeps_the_last, {"jit_product": 5}),
        (binds_underscore, {"jit_product": 1}),
        (calls_two, {"jit_product": 3, "jit_sine": 3}),
        (waits_for_one, {"jit_product": 3}),
    ],
)
def test_what_is_launched_and_dropped_is_recorded_to_its_end(
    run: Callable[[], object], expected: dict[str, int]
) -> None:
    made = timeline(run)
    counted = runs(made)
    assert {name: counted[name] for name in expected} == expected
    assert WAIT_MODULE not in str([made.recording.names, made.recording.modules])
    assert not made.headline.unfinished and made.headline.bound is not Bound.NOTHING


def test_of_several_devices_too() -> None:
    mesh = Mesh(jax.devices()[:4], ("d",))
    x = jax.device_put(X, NamedSharding(mesh, PartitionSpec("d")))
    product(x).block_until_ready()
    made = timeline(lambda: [product(x) for _ in range(3)] and None)
    devices = {int(device) for device in made.events.device[made.events.op >= 0]}
    assert runs(made)["jit_product"] == 3 and devices == {device.id for device in mesh.devices.flat}


def test_what_was_launched_before_is_not_in_it() -> None:
    product(X).block_until_ready()
    for _ in range(5):
        product(X)
    made = profile(lambda: sine(X))[1].timeline
    assert made is not None and set(runs(made)) >= {"jit_sine"} and "jit_product" not in runs(made)


def test_where_another_thread_launches_and_drops_it_is_unknown_how_long_devices_idle() -> None:
    large = jnp.ones((2500, 2500))
    product(large).block_until_ready()

    def run() -> None:
        thread = threading.Thread(target=lambda: [product(large) for _ in range(3)] and None)
        thread.start()
        thread.join()

    made = profile(run)[1].timeline
    assert made is not None
    assert Loss.UNFINISHED in {lost.loss for lost in made.recording.lost}
    assert made.headline.bound is Bound.CUT or made.headline.unfinished
    assert timeline_wording.NO_DEVICE_WORK not in str(made) and "idles" not in str(made)
