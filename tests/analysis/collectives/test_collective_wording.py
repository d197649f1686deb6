"""What is said of the collectives in one sentence, and their figure."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.analysis.collectives import collective_wording
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind
from jaxstage_ext.program.device.program_devices import NO_SPEED_OF_TARGET
from jaxstage_ext.report.text.public_paths import public_path

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def two(x, w):
    h = jnp.tanh(x @ w)
    return h, h.sum()


def compiled(target: str, mesh: dict[str, int]) -> Inspection:
    needs(target)
    specs = (P("data", "model"), P("model", None))
    return inspect(two, shape(256, 1024), shape(1024, 512), target=target, mesh=mesh, in_specs=specs)


def place(offset: int) -> str:
    return f"{public_path(two.__code__.co_filename)}:{two.__code__.co_firstlineno + offset}"


def test_the_costliest_comes_first_with_its_line_and_cause() -> None:
    found = compiled("cpu:8", {"data": 2, "model": 4}).collectives
    payload = 256 // 2 * 512 * 4
    assert found.rows[0].payload == payload
    assert found.headline == collective_wording.headline(found.rows, place(1), 8)
    assert all(part in found.headline for part in (f" {len(found)} ", "all-reduce", "262 kB", "model", place(1)))
    assert found.rows[0].causes[0].kind is CauseKind.PARTIAL_SUMS
    assert found.rows[0].why_no_seconds == NO_SPEED_OF_TARGET and NO_SPEED_OF_TARGET in found.headline
    assert str(found).startswith(found.headline)


def test_where_the_links_are_known_it_says_how_long_at_least() -> None:
    found = compiled("v5e:4x4", {"data": 4, "model": 4}).collectives
    first = found.rows[0]
    payload = 256 // 4 * 512 * 4
    assert first.total_seconds == pytest.approx(payload / 50e9)
    assert f"{payload / 50e9 * 1e6:.3g} µs" in found.headline.split(". ")[0]


def test_why_there_is_none() -> None:
    assert collective_wording.headline((), "", 1) == collective_wording.ONE_DEVICE
    assert "1,024" in collective_wording.headline((), "", 1024)


def test_devices_that_exchange_nothing_are_counted() -> None:
    alone = inspect(jnp.tanh, shape(8), target="cpu:8", mesh={"x": 8}, in_specs=(P("x"),))
    assert alone.collectives.headline == collective_wording.headline((), "", 8)
    assert "collectives" in alone.summary()["views"]


def test_a_figure_has_a_bar_each_the_costliest_on_top() -> None:
    inspection = compiled("v5e:4x4", {"data": 4, "model": 4})
    figure: Any = inspection.collectives_figure()
    found = inspection.collectives
    bars = {int(y): float(x) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)}
    assert bars == {i: pytest.approx(row.total_seconds) for i, row in enumerate(found.rows)}
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.ticksuffix == "s"
    assert place(1) in figure.layout.yaxis.ticktext[0]
    assert "partial sums of dot" in figure.data[0].hovertext[0]


def test_where_a_time_is_unknown_the_figure_shows_bytes() -> None:
    inspection = compiled("cpu:8", {"data": 2, "model": 4})
    figure: Any = inspection.collectives_figure()
    assert figure.layout.xaxis.ticksuffix == "B"
    assert max(max(trace.x) for trace in figure.data) == inspection.collectives.rows[0].total_sent


def test_a_figure_of_a_value_tells_its_share() -> None:
    inspection = compiled("cpu:8", {"data": 2, "model": 4})
    figure: Any = inspection.sharding_figure("w")
    assert figure.layout.title.text.endswith(
        "f32[1024,512], f32[256,512] per device, 524 kB, each shard on 2 devices</sup>"
    )
    with pytest.raises(KeyError, match="there are x, w"):
        inspection.sharding_figure("gone")
