"""Arguments that every call copies; what that takes is measured by calling."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.inputs import host_copies
from jaxstage_ext.findings.calls import copied_argument
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

TABLE = np.ones((1_000_000, 4), np.float32)


@jax.jit
def first(table: Any, x: Any) -> Any:
    return table["rows"][0] + x


def found(inspection: Inspection) -> list[Any]:
    return list(copied_argument.find(inspection.program))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A clock on which copies take 10, 5 and 20 ms; the bytes that were copied meanwhile."""
    times, copied, put = iter([0.0, 0.010, 1.0, 1.005, 2.0, 2.020]), list[int](), jax.device_put

    def noted(arrays: Any, device: Any) -> Any:
        copied.append(sum(array.nbytes for array in arrays))
        return put(arrays, device)

    monkeypatch.setattr(host_copies, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(host_copies, "jax", SimpleNamespace(device_put=noted))
    return copied


def test_an_array_of_numpy(clock: list[int]) -> None:
    x = jnp.ones(4)
    [one] = found(inspect(first, {"rows": TABLE}, x))
    assert one.names == ("table['rows']",)
    assert (one.stake.measure, one.stake.least, one.stake.whole) == (StakeMeasure.HOST, None, None)
    assert one.stake.most == pytest.approx(0.005), "the least of three: what else ran is not the copy's"
    assert clock == [TABLE.nbytes] * 3
    made: dict[str, Any] = {"jax": jax, "table": {"rows": TABLE}}
    exec(one.change.code, made)
    assert found(inspect(first, made["table"], x)) == []


def test_of_what_is_larger_than_is_copied_the_time_is_its_share(clock: list[int], monkeypatch: Any) -> None:
    monkeypatch.setattr(host_copies, "_MOST", TABLE.nbytes // 4)
    [one] = found(inspect(first, {"rows": TABLE}, jnp.ones(4)))
    assert one.stake.most == pytest.approx(4 * 0.005)
    assert clock == [TABLE.nbytes // 4] * 3


@pytest.mark.parametrize("rows", [TABLE[:1000], jnp.asarray(TABLE[:100_000])], ids=["small", "on the device"])
def test_a_small_one_and_one_on_the_device_are_no_finding(rows: Any) -> None:
    assert found(inspect(first, {"rows": rows}, 1.0)) == []


def test_what_another_library_passes_is_not_looked_at() -> None:
    """equinox gives JAX the leaves in a form of its own: what is copied of each is unknown, which is no failure."""
    equinox = pytest.importorskip("equinox")
    findings = inspect(equinox.filter_jit(first), {"rows": TABLE}, 1.0).findings
    assert findings.failures == ()
    assert FindingKind.COPIED_ARGUMENT not in findings.looked


def test_a_shape_alone_is_no_finding() -> None:
    assert found(inspect(first, {"rows": jax.ShapeDtypeStruct(TABLE.shape, jnp.float32)}, 1.0)) == []


@pytest.mark.skipif(jax.device_count() < 2, reason="needs two devices")
def test_an_array_that_is_sharded_otherwise() -> None:
    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))
    along, across = NamedSharding(mesh, P("data")), NamedSharding(mesh, P(None, "data"))
    step = jax.jit(lambda w: w * 2, in_shardings=along)
    array = jnp.ones((1024, 1024))
    [one] = found(inspect(step, array))
    assert one.names == ("w",)
    made: dict[str, Any] = {"jax": jax, "w": array, "NamedSharding": NamedSharding, "P": P, "mesh": mesh}
    exec(one.change.code, made)
    assert made["w"].sharding == along
    assert found(inspect(step, made["w"])) == []
    assert across != along
