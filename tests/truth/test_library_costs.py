"""FLOPs of library calls, kernels, complex numbers and primitives without HLO of their own, by hand counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental import sparse

from tests.truth.expectation import Expectation, UserProgram, holds, rows

TARGETS = ("local", "v5e:2x2", "h100")
N, M, K, BATCH = 96, 160, 8, 5
CUBE = N**3
LAWN = "operation counts of LAPACK Working Note 41, appendix C, leading terms"


def spd() -> jax.Array:
    return jnp.eye(N) + jnp.full((N, N), 0.01)


def cholesky() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.cholesky(a, symmetrize_input=False), (spd(),))


def cholesky_of_a_batch() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.cholesky(a, symmetrize_input=False), (jnp.stack([spd()] * BATCH),))


def lu() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.lu(a)[0], (spd(),))


def lu_of_a_tall_matrix() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.lu(a)[0], (jnp.ones((M, N)),))


def qr() -> UserProgram:
    return UserProgram(jnp.linalg.qr, (jnp.ones((M, N)),))


def qr_of_all_columns() -> UserProgram:
    return UserProgram(lambda a: jnp.linalg.qr(a, mode="complete"), (jnp.ones((M, N)),))


def solve_triangle() -> UserProgram:
    return UserProgram(lambda a, b: jsp.linalg.solve_triangular(a, b, lower=True), (spd(), jnp.ones((N, K))))


def solve_triangles_from_the_right() -> UserProgram:
    def solve(a: jax.Array, b: jax.Array) -> jax.Array:
        return lax.linalg.triangular_solve(a, b, left_side=False, lower=True)

    return UserProgram(solve, (jnp.stack([spd()] * BATCH), jnp.ones((BATCH, K, N))))


def linear_solve() -> UserProgram:
    return UserProgram(jnp.linalg.solve, (spd(), jnp.ones((N, K))))


def complex_lu() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.lu(a)[0], (spd().astype(jnp.complex64),))


def complex_cholesky() -> UserProgram:
    return UserProgram(lambda a: lax.linalg.cholesky(a, symmetrize_input=False), (spd().astype(jnp.complex64),))


def eigenvalues() -> UserProgram:
    return UserProgram(lambda a: jnp.linalg.eigh(a)[0], (spd(),))


def singular_values() -> UserProgram:
    return UserProgram(lambda a: jnp.linalg.svd(a)[1], (spd(),))


def complex_matmul() -> UserProgram:
    return UserProgram(lambda a, b: a @ b, (jnp.ones((N, M), jnp.complex64), jnp.ones((M, K), jnp.complex64)))


def complex_elementwise() -> UserProgram:
    return UserProgram(lambda a, b: a * b + a, (jnp.ones((N, N), jnp.complex64), jnp.ones((N, N), jnp.complex64)))


def complex_sum() -> UserProgram:
    return UserProgram(jnp.sum, (jnp.ones((N, N), jnp.complex64),))


def largest() -> UserProgram:
    return UserProgram(lambda x: lax.top_k(x, K), (jnp.ones((16, 1000)),))


def sorted_rows() -> UserProgram:
    return UserProgram(lambda x: jnp.sort(x, axis=0), (jnp.ones((64, 1000)),))


def mixture_of_experts() -> UserProgram:
    sizes = jnp.array([16, 0, 40, 8], jnp.int32)
    return UserProgram(lax.ragged_dot, (jnp.ones((64, 32)), jnp.ones((4, 32, 16)), sizes))


def sparse_product() -> UserProgram:
    matrix = sparse.BCOO.fromdense(np.eye(N, dtype=np.float32))
    return UserProgram(lambda m, b: m @ b, (matrix, jnp.ones((N, K))))


def conjugate_gradients() -> UserProgram:
    """One product an iteration; its derivative's transposed solve is traced along with it."""

    def solve(a: jax.Array, b: jax.Array) -> jax.Array:
        return lax.custom_linear_solve(lambda x: a @ x, b, lambda _, b: a @ (a @ b), lambda _, b: a.T @ b)

    return UserProgram(solve, (spd(), jnp.ones(N)))


def four_bit_weights() -> UserProgram:
    return UserProgram(lambda w: w.astype(jnp.float32).sum(), (jnp.ones((512, 256), jnp.int4),))


def pooled_gradient() -> UserProgram:
    def loss(x: jax.Array) -> jax.Array:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()

    return UserProgram(jax.grad(loss), (jnp.ones((2, 16, 16, 4)),))


def padded_pooling() -> UserProgram:
    return UserProgram(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), (jnp.ones((2, 16, 16, 4)),)
    )


def matmul_kernel(x: Any, y: Any, out: Any) -> None:
    out[...] = jnp.dot(x[...], y[...], preferred_element_type=jnp.float32)


def exp_kernel(x: Any, out: Any) -> None:
    out[...] = jnp.exp(x[...]) + 1


def tiled(estimate: Any = None) -> Callable[..., Any]:
    square = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    blocks = [pl.BlockSpec((128, 256), lambda i, j: (i, 0)), pl.BlockSpec((256, 128), lambda i, j: (0, j))]
    out = pl.BlockSpec((128, 128), lambda i, j: (i, j))
    return pl.pallas_call(
        matmul_kernel, out_shape=square, grid=(2, 2), in_specs=blocks, out_specs=out, cost_estimate=estimate
    )


def kernel() -> UserProgram:
    return UserProgram(lambda x, y: tiled()(x, y), (jnp.ones((256, 256)), jnp.ones((256, 256))))


def kernel_with_a_wrong_estimate() -> UserProgram:
    estimate = pl.CostEstimate(flops=7, bytes_accessed=1, transcendentals=0)
    return UserProgram(lambda x, y: tiled(estimate)(x, y), (jnp.ones((256, 256)), jnp.ones((256, 256))))


def kernels_in_a_scan() -> UserProgram:
    def run(x: jax.Array, y: jax.Array) -> jax.Array:
        def body(carry: jax.Array, _: None) -> Any:
            rows = pl.BlockSpec((64, 256), lambda i: (i, 0))
            shape = jax.ShapeDtypeStruct((256, 256), jnp.float32)
            carry = pl.pallas_call(exp_kernel, out_shape=shape, grid=(4,), in_specs=[rows], out_specs=rows)(carry)
            return tiled()(carry, y), None

        return lax.scan(body, x, None, length=3)[0]

    return UserProgram(run, (jnp.ones((256, 256)), jnp.ones((256, 256))))


def total(inspection: Any) -> float:
    return float(inspection.cost.work.total_flops)


def of_calls(inspection: Any) -> float:
    """The FLOPs of the custom calls alone: what the program does around them is not the library's."""
    table = inspection.cost.by("opcode")
    return float(sum(table["FLOPs"][i] for i, name in enumerate(table["opcode"]) if name == "custom-call"))


def of_jaxpr(inspection: Any) -> float:
    assert not inspection.cost.equations.unknown
    return float(inspection.cost.equations.total_flops)


def transcendentals(inspection: Any) -> float:
    return float(np.sum(inspection.cost.by("opcode")["transcendentals"]))


def unknown(inspection: Any) -> str:
    return "; ".join(inspection.cost.work.why.values())


def unknowns(inspection: Any) -> int:
    return len(inspection.cost.work.why)


def bytes_read(inspection: Any) -> float:
    return float(np.sum(inspection.cost.by("line")["bytes read"]))


def jaxpr_bytes(primitive: str) -> Callable[[Any], float]:
    def asked(inspection: Any) -> float:
        table = inspection.cost.equations.by("primitive")
        return float(table["bytes read"][list(table["primitive"]).index(primitive)])

    return asked


def everywhere(
    program: Callable[[], UserProgram], asked: str, ask: Callable[[Any], Any], expected: Any, source: str,
    targets: tuple[str, ...] = TARGETS,
) -> list[Expectation]:  # fmt: skip
    return [Expectation(program, target, asked, ask, expected, source) for target in targets]


FACTORED = CUBE / 3
ELIMINATED = 2 * CUBE / 3
TALL = M * N**2 - CUBE / 3
REFLECTED = 2 * M * N**2 - 2 * CUBE / 3
THIN = 4 * M * N * N - 2 * (M + N) * N**2 + 4 * CUBE / 3
FULL = 4 * M * M * N - 2 * (M + M) * N**2 + 4 * CUBE / 3
HOSTS = ("local", "h100")


@rows(
    *everywhere(cholesky, "FLOPs of calls", of_calls, FACTORED, f"potrf n³/3; {LAWN}"),
    *everywhere(cholesky_of_a_batch, "FLOPs of calls", of_calls, BATCH * FACTORED, "five times potrf", HOSTS),
    *everywhere(lu, "FLOPs of calls", of_calls, ELIMINATED, f"getrf 2n³/3; {LAWN}"),
    *everywhere(lu_of_a_tall_matrix, "FLOPs of calls", of_calls, TALL, f"getrf mn² - n³/3; {LAWN}", HOSTS),
    *everywhere(qr, "FLOPs of calls", of_calls, REFLECTED + THIN, f"geqrf and orgqr; {LAWN}", HOSTS),
    *everywhere(qr_of_all_columns, "FLOPs of calls", of_calls, REFLECTED + FULL, f"geqrf and orgqr; {LAWN}", HOSTS),
    *everywhere(solve_triangle, "FLOPs", total, N**2 * K, f"trsm n²m; {LAWN}", HOSTS),
    *everywhere(solve_triangles_from_the_right, "FLOPs of calls", of_calls, BATCH * N**2 * K, "five trsm", HOSTS),
    *everywhere(linear_solve, "FLOPs of calls", of_calls, ELIMINATED + 2 * N**2 * K, "getrf and two trsm", HOSTS),
    *everywhere(complex_lu, "FLOPs of calls", of_calls, 4 * ELIMINATED, "four real multiply-adds in a complex one"),
    *everywhere(complex_cholesky, "FLOPs of calls", of_calls, 4 * FACTORED, "four real multiply-adds in a complex one"),
)  # fmt: skip
def test_factorisations_and_solves(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    *everywhere(eigenvalues, "why unknown", unknown, "iterates until it converges", "how many sweeps depends on them"),
    *everywhere(singular_values, "why unknown", unknown, "iterates until it converges", "how many depends on values"),
    Expectation(eigenvalues, "h100", "headline", lambda ins: ins.cost.headline, "at least", "syevd is not counted"),
)  # fmt: skip
def test_what_iterates_is_unknown(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    Expectation(cholesky, "local", "jaxpr FLOPs", of_jaxpr, FACTORED + 3 * N * N, "potrf, and of each element "
                "an index, a comparison and a choice that make the upper half zero"),
    Expectation(lu, "local", "jaxpr FLOPs", of_jaxpr, ELIMINATED, "getrf"),
    Expectation(qr, "local", "jaxpr FLOPs", of_jaxpr, REFLECTED + THIN, "geqrf and orgqr"),
    Expectation(qr_of_all_columns, "local", "jaxpr FLOPs", of_jaxpr, REFLECTED + FULL, "geqrf and orgqr"),
    Expectation(solve_triangle, "local", "jaxpr FLOPs", of_jaxpr, N**2 * K, "trsm"),
    Expectation(complex_lu, "local", "jaxpr FLOPs", of_jaxpr, 4 * ELIMINATED, "getrf of complex numbers"),
    Expectation(largest, "local", "jaxpr FLOPs", of_jaxpr, 16 * 1000 * 3, "log2 8 comparisons an element"),
    Expectation(sparse_product, "local", "jaxpr FLOPs", of_jaxpr, 2 * N * K, "a multiply-add a value and column"),
    Expectation(mixture_of_experts, "local", "jaxpr FLOPs", of_jaxpr, 2 * 64 * 32 * 16, "each row is in one group"),
    Expectation(conjugate_gradients, "local", "jaxpr FLOPs", of_jaxpr, 2 * 2 * N * N, "`solve` runs: two products"),
    Expectation(pooled_gradient, "local", "jaxpr FLOPs", of_jaxpr, 512 * (3 + 3 + 1 + 1) - 1, "forward three "
                "comparisons a window and the sum of windows; backward three comparisons and a sum"),
    Expectation(kernel, "v5e:2x2", "jaxpr FLOPs", of_jaxpr, 2 * 256**3, "2 m k n"),
    Expectation(four_bit_weights, "local", "jaxpr bytes read", jaxpr_bytes("convert_element_type"), 512 * 256 / 2,
                "two weights a byte"),
)  # fmt: skip
def test_the_jaxpr(expectation: Expectation) -> None:
    holds(expectation)


COMPLEX = "a complex multiplication is four products and two sums, an addition two"


@rows(
    *everywhere(complex_matmul, "FLOPs", total, 8 * N * M * K, COMPLEX, HOSTS),
    *everywhere(complex_matmul, "jaxpr FLOPs", of_jaxpr, 8 * N * M * K, COMPLEX, ("local",)),
    *everywhere(complex_elementwise, "FLOPs", total, 8 * N * N, COMPLEX),
    *everywhere(complex_elementwise, "jaxpr FLOPs", of_jaxpr, 8 * N * N, COMPLEX, ("local",)),
    *everywhere(complex_sum, "FLOPs", total, 2 * (N * N - 1), COMPLEX),
    *everywhere(complex_sum, "jaxpr FLOPs", of_jaxpr, 2 * (N * N - 1), COMPLEX, ("local",)),
)  # fmt: skip
def test_complex_numbers(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    *everywhere(largest, "FLOPs", total, 16 * 1000 * 3, "log2 8 comparisons an element", ("local", "v5e:2x2")),
    *everywhere(sorted_rows, "FLOPs", total, 64 * 1000 * 6, "each of 1,000 columns of 64 takes 64 log2 64"),
    *everywhere(padded_pooling, "FLOPs", total, 8 * 46 * 46 - 2048, "46 pairs meet along 16 places of three, less one"),
    *everywhere(padded_pooling, "jaxpr FLOPs", of_jaxpr, 8 * 46 * 46 - 2048, "the same pairs", ("local",)),
    Expectation(mixture_of_experts, "v5e:2x2", "FLOPs of calls", of_calls, 2 * 64 * 32 * 16, "each row has one group"),
    Expectation(mixture_of_experts, "v5e:2x2", "unknown calls", unknowns, 0, "libtpu's other kernel makes indices"),
    Expectation(complex_matmul, "v5e:2x2", "unknown calls", unknowns, 0, "X64 markers compute nothing"),
    Expectation(four_bit_weights, "h100", "bytes read", bytes_read, 512 * 256 / 2, "two weights a byte", (), 0.05),
)  # fmt: skip
def test_other_calls(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    Expectation(kernel, "v5e:2x2", "FLOPs", total, 2 * 256**3, "2 m k n"),
    Expectation(kernel_with_a_wrong_estimate, "v5e:2x2", "FLOPs", total, 2 * 256**3, "2 m k n, whatever is estimated"),
    Expectation(kernels_in_a_scan, "v5e:2x2", "FLOPs", total, 3 * (2 * 256**3 + 256**2),
                "three iterations of 2 m k n and a sum an element"),
    Expectation(kernels_in_a_scan, "v5e:2x2", "transcendentals", transcendentals, 3 * 256**2, "one exp an element"),
    Expectation(kernels_in_a_scan, "v5e:2x2", "unknown calls", unknowns, 0, "both kernels are known"),
)  # fmt: skip
def test_pallas_kernels(expectation: Expectation) -> None:
    holds(expectation)
