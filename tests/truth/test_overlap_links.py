"""The least time of collectives, by hand from the links of each device, and what of it other work hides.

Links: TPU v5e and v6e have 4 a chip, v5p and TPU7x have 6; their makers' figure is for all links and both directions
(v5e 400 GB/s, so 50 GB/s a link and direction; v5p and TPU7x 1200, so 100). An axis of a slice is a ring where it is
16 long (v5e, v6e) or a multiple of 4 (v5p, TPU7x), else a line. H100: 450 GB/s in one direction, A100: 300 GB/s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

from jaxstage_ext.report.text.units import scaled
from tests.truth.expectation import Expectation, UserProgram, answer, holds, inspected, rows

S = 4 * 1024 * 1024
"""Bytes of f32[1024, 1024], which each device sums, gathers, passes on or exchanges."""
V5E, V5P, H100, A100 = 50e9, 100e9, 450e9, 300e9


def over(devices: int, body: Callable[[Any], Any], rows_each: int = 1024, axis: str = "x") -> UserProgram:
    """A program in which each device calls `body` of its own f32[rows_each, 1024]."""

    def program(x: Any) -> Any:
        return jax.shard_map(body, in_specs=P(axis), out_specs=P(axis), check_vma=False)(x)

    whole = jax.ShapeDtypeStruct((devices * rows_each, 1024), jnp.float32)
    return UserProgram(program, (whole,), {"mesh": {"x": devices}, "in_specs": (P(axis),)})


def summed(devices: int) -> Callable[[], UserProgram]:
    return named("summed", devices, lambda: over(devices, lambda x: jax.lax.psum(jnp.sin(x), "x")))


def gathered(devices: int) -> Callable[[], UserProgram]:
    def body(x: Any) -> Any:
        return jnp.cos(jax.lax.all_gather(jnp.sin(x), "x", tiled=True))

    return named("gathered", devices, lambda: over(devices, body, 1024 // devices))


def scattered(devices: int) -> Callable[[], UserProgram]:
    return named(
        "scattered", devices, lambda: over(devices, lambda x: jax.lax.psum_scatter(jnp.sin(x), "x", tiled=True))
    )


def exchanged(devices: int) -> Callable[[], UserProgram]:
    def body(x: Any) -> Any:
        return jnp.cos(jax.lax.all_to_all(jnp.sin(x), "x", 0, 1, tiled=True))

    return named("exchanged", devices, lambda: over(devices, body))


def passed_on(devices: int) -> Callable[[], UserProgram]:
    ring = [(i, (i + 1) % devices) for i in range(devices)]
    return named("passed_on", devices, lambda: over(devices, lambda x: jax.lax.ppermute(jnp.sin(x), "x", ring)))


KNOWN: dict[tuple[str, int], Callable[[], UserProgram]] = {}


def named(name: str, devices: int, program: Callable[[], UserProgram]) -> Callable[[], UserProgram]:
    """The same program each time it is asked for, so that it is staged once a target."""
    program.__name__ = f"{name}_over_{devices}"
    return KNOWN.setdefault((name, devices), program)


def seconds(inspection: Any) -> float:
    """The time of the only collective."""
    [row] = inspection.collectives.rows
    return float(row.total_seconds)


def sent(inspection: Any) -> float:
    [row] = inspection.collectives.rows
    return float(row.total_sent)


def bound(program: Callable[[], UserProgram], target: str, by_hand: float, why: str) -> Expectation:
    return Expectation(program, target, "time", seconds, by_hand, why)


@rows(
    bound(summed(8), "v5e:2x4", 2 * 7 / 8 * S / (2.5 * V5E), "10 links each way in the 2x4 grid, 20 for 8 chips"),
    bound(gathered(8), "v5e:2x4", 7 / 8 * S / (2 * V5E), "a corner chip of the grid has 2 links"),
    bound(scattered(8), "v5e:2x4", 7 / 8 * S / (2 * V5E), "a corner chip of the grid has 2 links"),
    bound(exchanged(8), "v5e:2x4", S / V5E, "each half sends 4 x 4 x S/8 over the 2 links in the middle"),
    bound(passed_on(8), "v5e:2x4", S / V5E, "to a neighbour by one link, in one direction"),
    bound(summed(4), "v5e:2x2", 2 * 3 / 4 * S / (2 * V5E), "each chip of a 2x2 grid has 2 links"),
    bound(gathered(4), "v6e:2x2", 3 / 4 * S / (2 * 2 * V5E), "as v5e with twice the bandwidth"),
    bound(summed(8), "v5p:2x2x2", 2 * 7 / 8 * S / (3 * V5P), "each chip of a cube of 2 has 3 links"),
    bound(summed(64), "v5p:4x4x4", 2 * 63 / 64 * S / (6 * V5P), "rings along all three axes: 6 links"),
    bound(exchanged(64), "v5p:4x4x4", S / 2 / V5P, "32 x 32 x S/64 each way over 2 x 16 links between the halves"),
    bound(gathered(16), "v5p:2x2x4", 15 / 16 * S / (4 * V5P), "a corner: 1 + 1 links, and 2 of the ring of 4"),
    bound(gathered(8), "tpu7x:2x2x1", 3 / 4 * S / (2 * V5P), "4 chips with 2 devices and 2 of 6 links each"),
    bound(summed(8), "h100:8", S / H100, "NVLink SHARP: the switch sums what each GPU sends once"),
    bound(summed(8), "a100:8", 2 * 7 / 8 * S / A100, "its switches do not sum: a ring"),
    bound(gathered(8), "h100:8", 7 / 8 * S / H100, "each GPU receives what the others have"),
    bound(scattered(8), "h100:8", 7 / 8 * S / H100, "each GPU sends all but its own part"),
    bound(exchanged(8), "h100:8", 7 / 8 * S / H100, "each GPU sends all but its own part"),
    bound(passed_on(8), "h100:8", S / H100, "all NVLinks lead to the switch"),
    Expectation(summed(8), "h100:8", "sent", sent, S, "NVLink SHARP: once"),
    Expectation(gathered(8), "h100:8", "sent", sent, S / 8, "the switch copies a GPU's part to the others"),
    Expectation(summed(8), "a100:8", "sent", sent, 2 * 7 / 8 * S, "a ring"),
    Expectation(summed(8), "v5e:2x4", "sent", sent, 2 * 7 / 8 * S, "no algorithm sends less on average"),
    Expectation(
        summed(8), "v5e:2x4", "answer", answer("collective"), "exposed, at least 58.7 µs.", "1.75 S / 125 GB/s"
    ),
    Expectation(passed_on(8), "v5e:2x4", "answer", answer("collective"), "at least 83.9 µs.", "S / 50 GB/s"),
    Expectation(summed(8), "h100:8", "answer", answer("collective"), "at least 9.32 µs.", "S / 450 GB/s"),
)
def test_the_least_time_by_hand(expectation: Expectation) -> None:
    holds(expectation)


def both_axes(sizes: tuple[int, int], along: str) -> Callable[[], UserProgram]:
    def program() -> UserProgram:
        def body(x: Any) -> Any:
            return jnp.cos(jax.lax.all_gather(jnp.sin(x), along, tiled=True))

        def function(x: Any) -> Any:
            return jax.shard_map(body, in_specs=P(("x", "y")), out_specs=P(("x", "y")), check_vma=False)(x)

        whole = jax.ShapeDtypeStruct((1024 * sizes["xy".index("y" if along == "x" else "x")], 1024), jnp.float32)
        return UserProgram(
            function, (whole,), {"mesh": dict(zip("xy", sizes, strict=True)), "in_specs": (P(("x", "y")),)}
        )

    return named(f"gathered_along_{along}_of", sizes[0] * 100 + sizes[1], program)


@rows(
    bound(both_axes((4, 4), "x"), "v5e:4x4", 3 / 4 * S / V5E, "a line of 4: its end has one link"),
    bound(both_axes((16, 16), "y"), "v5e:16x16", 15 / 16 * S / (2 * V5E), "a ring of 16: two links"),
    bound(both_axes((8, 16), "y"), "v5e:8x16", 15 / 16 * S / (2 * V5E), "a ring of 16: two links"),
    bound(both_axes((8, 16), "x"), "v5e:8x16", 7 / 8 * S / V5E, "a line of 8: its end has one link"),
)
def test_a_line_has_half_the_links_of_a_ring(expectation: Expectation) -> None:
    holds(expectation)


def two_products() -> UserProgram:
    """Weights that are gathered one layer ahead: on a TPU the second gather runs beside the first product."""

    def program(x: Any, w: Any, v: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w) @ v)

    shapes = [jax.ShapeDtypeStruct(sizes, jnp.bfloat16) for sizes in ((8192, 2048), (2048, 2048), (2048, 2048))]
    return UserProgram(program, tuple(shapes), {"mesh": {"x": 8}, "in_specs": (P("x"), P("x"), P("x"))})


@pytest.mark.needs("tpu")
@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_exposed_time_has_one_figure_in_table_roofline_and_sentences() -> None:
    inspection = inspected(two_products, "v5e:2x4")
    found, roof = inspection.collectives, inspection.cost.roofline
    exposed = [row.exposed for row in found.rows]
    left = sum((roof.seconds - roof.hidden)[place] for place, kind in enumerate(roof.bound) if kind == "interconnect")
    assert sum(exposed) == pytest.approx(left)
    assert found.table["exposed"] == pytest.approx(exposed)
    total = sum(row.total_seconds for row in found.rows)
    part = (
        "all of it" if sum(exposed) >= total else f"{scaled(sum(exposed), 's')} of it" if sum(exposed) else "none of it"
    )
    assert f"in at least {scaled(total, 's')}, {part} exposed." in found.headline
    assert answer("collective")(inspection) == found.headline
