"""FLOPs by formula, and what is said where XLA counts by another."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from jaxstage_ext.report.text.units import share
from tests.truth.expectation import Expectation, UserProgram, holds, inspected, rows

N = 1024
C64 = jax.ShapeDtypeStruct((N, N), jnp.complex64)
F32 = jax.ShapeDtypeStruct((N, N), jnp.float32)
PUBLISHED = "5 N log2 N of complex numbers, 2.5 N log2 N of real ones (fftw.org/speed)"


def rfft() -> UserProgram:
    return UserProgram(jnp.fft.rfft, (F32,))


def irfft() -> UserProgram:
    return UserProgram(jnp.fft.irfft, (jax.ShapeDtypeStruct((N, N // 2 + 1), jnp.complex64),))


def fft() -> UserProgram:
    return UserProgram(jnp.fft.fft, (C64,))


def fft2() -> UserProgram:
    return UserProgram(jnp.fft.fft2, (C64,))


def rows_sorted() -> UserProgram:
    return UserProgram(lambda x: jnp.sort(x, axis=1), (F32,))


def c64_product() -> UserProgram:
    return UserProgram(lambda x, y: x @ y, (C64, C64))


def normal() -> UserProgram:
    return UserProgram(lambda key: jax.random.normal(key, (N, N)).sum(), (jax.random.key(0),))


def fft_in_a_scan() -> UserProgram:
    return UserProgram(lambda x: lax.scan(lambda c, _: (jnp.fft.fft(c), None), x, None, 7)[0], (C64,))


def cholesky() -> UserProgram:
    return UserProgram(jnp.linalg.cholesky, (F32,))


def by_hlo(inspection: Any) -> float:
    return float(inspection.cost.ledger["HLO"][0])


def by_jaxpr(inspection: Any) -> float:
    return float(inspection.cost.ledger["jaxpr"][0])


@rows(
    Expectation(rfft, "cpu", "HLO", by_hlo, 2.5 * N * N * 10, PUBLISHED),
    Expectation(rfft, "cpu", "jaxpr", by_jaxpr, 2.5 * N * N * 10, PUBLISHED),
    Expectation(irfft, "cpu", "HLO", by_hlo, 2.5 * N * N * 10, PUBLISHED),
    Expectation(irfft, "cpu", "jaxpr", by_jaxpr, 2.5 * N * N * 10, PUBLISHED),
    Expectation(fft, "cpu", "HLO", by_hlo, 5.0 * N * N * 10, PUBLISHED),
    Expectation(fft2, "cpu", "jaxpr", by_jaxpr, 5.0 * N * N * 20, PUBLISHED),
    Expectation(rfft, "h100", "HLO", by_hlo, 2.5 * N * N * 10, PUBLISHED),
)
def test_a_transform_counts_by_its_published_formula(expectation: Expectation) -> None:
    holds(expectation)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (rfft, "FFT"), (irfft, "FFT"), (rows_sorted, "sort"), (c64_product, "complex"), (cholesky, "library call"),
        (normal, "loop"), (fft_in_a_scan, "loop"), (fft_in_a_scan, "FFT"),
    ],
)  # fmt: skip
def test_a_difference_to_xla_is_that_of_the_columns_and_has_its_reason(program: Any, why: str) -> None:
    ledger = inspected(program, "cpu").cost.ledger
    [said] = [note for note in ledger.notes if "FLOPs than XLA counts" in note]
    assert why in said
    assert "unknown" not in said
    ours, xla = ledger["HLO"][0], ledger["XLA"][0]
    assert f"{share(abs(ours / xla - 1))} {'more' if ours > xla else 'fewer'}" in said


def scattered_sums() -> UserProgram:
    """Each device adds 32 x 8 pairs, of which XLA's cost analysis counts none."""
    mesh = jax.make_mesh((2,), ("i",), axis_types=(AxisType.Auto,))
    summed = jax.shard_map(
        lambda x: lax.psum_scatter(jnp.sin(x), "i", tiled=True) + 1, mesh=mesh, in_specs=P("i"), out_specs=P("i")
    )
    return UserProgram(summed, (jnp.ones((128, 8)),))


def test_the_sums_of_a_reduce_scatter_are_the_reason_of_a_difference() -> None:
    ledger = inspected(scattered_sums, "local").cost.ledger
    assert ledger["HLO"][0] - ledger["XLA"][0] == 32 * 8
    [said] = [note for note in ledger.notes if "FLOPs than XLA counts" in note]
    assert "reduce-scatter" in said


def counted_by_xla() -> UserProgram:
    """The jaxpr has a while loop, whose length XLA finds: fifty products."""
    small = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    return UserProgram(
        lambda x: lax.while_loop(lambda s: s[0] < 50, lambda s: (s[0] + 1, s[1] @ s[1]), (0, x))[1], (small,)
    )


def with_loops_of_its_own() -> UserProgram:
    """The length of the fori_loop is an argument; a scan and random numbers have loops of known length."""

    def step(key: Any, x: Any, n: Any) -> Any:
        x = x + jax.random.normal(key, (64, 64))
        y = lax.scan(lambda c, _: (jnp.tanh(c @ x), None), x, None, length=11)[0]
        return y, lax.fori_loop(0, n, lambda i, c: c + jnp.sin(x + i).sum(), 0.0)

    return UserProgram(step, (jax.random.key(0), jnp.ones((64, 64)), 5))


def two_whiles() -> UserProgram:
    """XLA finds the length of one, the other's is an argument."""

    def step(x: Any, n: Any) -> Any:
        y = lax.while_loop(lambda s: s[0] < 50, lambda s: (s[0] + 1, s[1] @ s[1]), (0, x))[1]
        return y, lax.fori_loop(0, n, lambda i, c: c @ x, x)

    return UserProgram(step, (jnp.ones((64, 64)), 5))


@pytest.mark.parametrize("program", [with_loops_of_its_own, two_whiles])
def test_a_loop_that_xla_does_not_know_has_not_another_ones_length(program: Any) -> None:
    notes = " ".join(inspected(program, "cpu").cost.ledger.notes)
    assert "in a loop of unknown length, counted once." in notes
    assert "found its length" not in notes


def test_a_loop_whose_length_xla_finds_is_not_left_unknown() -> None:
    ledger = inspected(counted_by_xla, "cpu").cost.ledger
    assert ledger["HLO"][0] == pytest.approx(50 * 2 * 64**3, rel=0.01)
    assert "XLA found its length: 50" in " ".join(ledger.notes)
