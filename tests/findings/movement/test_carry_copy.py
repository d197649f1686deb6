"""Arrays that a loop carries and copies in every iteration, and the same loops that read before they write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax import lax

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

N, WINDOW, STEPS = 200_000, 16, 50
LARGE = 50_000_000
"""Elements that do not fit in a TPU's own memory."""


def exchanged(buf: Any, i: Any) -> Any:
    first = lax.dynamic_slice(buf, (i,), (WINDOW,))
    second = lax.dynamic_slice(buf, (i + WINDOW,), (WINDOW,))
    buf = lax.dynamic_update_slice(buf, second, (i,))
    return lax.dynamic_update_slice(buf, first, (i + WINDOW,)), ()


def exchanged_apart(buf: Any, i: Any) -> Any:
    first = lax.dynamic_slice(buf, (i,), (WINDOW,))
    second = lax.dynamic_slice(buf, (i + WINDOW,), (WINDOW,))
    first, second, buf = lax.optimization_barrier((first, second, buf))
    buf = lax.dynamic_update_slice(buf, second, (i,))
    return lax.dynamic_update_slice(buf, first, (i + WINDOW,)), ()


def doubled(buf: Any, i: Any) -> Any:
    new = buf.at[i].set(buf[i] * 2.0)
    return new, new[i] - buf[i]


def doubled_apart(buf: Any, i: Any) -> Any:
    buf, old = lax.optimization_barrier((buf, buf[i]))
    new = buf.at[i].set(old * 2.0)
    return new, new[i] - old


def swapped(pair: Any, i: Any) -> Any:
    a, b = pair
    return (b, a.at[i].add(1.0)), ()


def taken(pair: Any, i: Any) -> Any:
    """Also reads what it does not write."""
    a, b = pair
    return (b, a.at[i].set(b[i])), ()


def stencil(pair: Any, _: Any) -> Any:
    a, _ = pair
    rolled = [jnp.roll(a, shift) for shift in (-2, -1, 1, 2)]
    return (0.25 * sum(rolled), a), ()


def added(buf: Any, i: Any) -> Any:
    return buf.at[i].add(1.0), i


def over(body: Callable[..., Any]) -> Callable[..., Any]:
    def run(buf: Any, places: Any) -> Any:
        return lax.scan(body, buf, places)

    return run


def found_in(body: Callable[..., Any], target: str, size: int = N, pair: bool = False) -> list[FoundIn]:
    needs(target)
    buf = jax.ShapeDtypeStruct((size,), jnp.float32)
    places = jax.ShapeDtypeStruct((STEPS,), jnp.int32)
    found = inspect(over(body), (buf, buf) if pair else buf, places, target=target).findings
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.CARRY_COPY]


def check(found: FoundIn, offset: int, body: Callable[..., Any], target: str) -> None:
    """Without copies where XLA keeps the barrier; else two iterations in one, which may pay in part."""
    if target.startswith("cpu") and jax.__version_info__ < (0, 12):
        made = found.try_()
        assert made.realised is not None and found.stake.most and 0 <= made.realised <= found.stake.most
        return
    assert found.line.endswith(f":{body.__code__.co_firstlineno + offset}")
    made = found.try_()
    assert made.outcome is TrialOutcome.PAYS and made.realised is not None and found.stake.most
    assert made.realised == pytest.approx(found.stake.most, rel=0.02)


@pytest.mark.parametrize(("target", "size"), [("cpu:1", N), ("h100", N), ("v5e:1x1", LARGE)])
def test_what_is_read_and_overwritten_is_copied(target: str, size: int) -> None:
    """A copy and a copy back, each read and written, in each step: 16 B an element."""
    [found] = found_in(exchanged, target, size)
    check(found, 3, exchanged, target)
    if found.change is None or not found.change.is_diff:
        assert target.startswith("cpu") and jax.__version_info__ < (0, 12)
        return
    if found.stake.measure is StakeMeasure.MOVED:
        assert found.stake.most == 16 * size * STEPS
    assert "+    first, second, buf = jax.lax.optimization_barrier((first, second, buf))" in found.change.code
    assert found_in(exchanged_apart, target, size) == []


@pytest.mark.parametrize("target", ["cpu:1", "h100"])
def test_what_is_read_after_the_write_is_copied(target: str) -> None:
    [found] = found_in(doubled, target)
    check(found, 1, doubled, target)
    assert found.names == ("buf",)
    if (
        found.line.endswith(f":{doubled.__code__.co_firstlineno + 1}")
        and found.change
        and "barrier" in found.change.code
    ):
        assert found_in(doubled_apart, target) == []


@pytest.mark.parametrize("body", [swapped, taken])
@pytest.mark.parametrize("target", ["cpu:1", "h100"])
def test_arrays_that_change_places_are_copied(target: str, body: Callable[..., Any]) -> None:
    [found] = found_in(body, target, pair=True)
    made = found.try_()
    assert made.outcome is TrialOutcome.PAYS and made.realised == pytest.approx(found.stake.most, rel=0.02)


@pytest.mark.parametrize("target", ["cpu:1", "v5e:1x1", "h100"])
def test_a_carry_that_is_updated_in_place_is_not_found(target: str) -> None:
    assert found_in(added, target) == []


def test_a_stencil_is_not_unrolled_where_xla_computes_the_neighbours_again() -> None:
    """On a CPU two iterations in one move 4.5 times the bytes; on a GPU they do without the copy."""
    assert found_in(stencil, "cpu:1", pair=True) == []
    [found] = found_in(stencil, "h100", pair=True)
    made = found.try_()
    assert made.outcome is TrialOutcome.PAYS and made.realised is not None and made.realised <= found.stake.most * 1.01
