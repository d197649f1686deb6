"""Work inside a fusion belongs to the lines that do it: totals by line, scope and opcode, answers and heat agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from panel_requests import ask

from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.module_cost import GROUPS
from tests.helpers.wire_columns import columns
from tests.truth.expectation import Expectation, UserProgram, answer, holds, inspected, rows

TARGETS = ("local", "v5e:2x2", "h100")
M, K, N = 256, 512, 128


def attention_scores() -> UserProgram:
    def scores(x, w):
        h = x @ w
        return jax.nn.softmax(h).sum(0)

    return UserProgram(scores, (jnp.ones((M, K)), jnp.ones((K, N))))


def dense_layer() -> UserProgram:
    def layer(x, w, b):
        with jax.named_scope("project"):
            h = x @ w  # dense
        with jax.named_scope("activate"):
            h = h + b
            return jnp.maximum(h, 0)

    return UserProgram(layer, (jnp.ones((M, K)), jnp.ones((K, N)), jnp.ones(N)))


def normalised() -> UserProgram:
    def normalise(x, gain):
        centred = x - x.mean(-1, keepdims=True)
        power = jnp.square(centred).mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(power + 1e-6) * gain

    return UserProgram(normalise, (jnp.ones((M, K)), jnp.ones(K)))


def two_lines() -> UserProgram:
    def both(x, y):
        a = jnp.exp(x)
        return a * y

    return UserProgram(both, (jnp.ones((1024, 1024)), jnp.ones((1024, 1024))))


def update_in_place() -> UserProgram:
    def update(cache, new, at):
        row = new * 2
        return jax.lax.dynamic_update_slice(cache, row, (at, 0))

    return UserProgram(jax.jit(update, donate_argnums=0), (jnp.ones((4096, 256)), jnp.ones((1, 256)), 7))


def scanned() -> UserProgram:
    def run(x, ws):
        def body(h, w):
            h = h @ w
            return jnp.tanh(h), None

        return jax.lax.scan(body, x, ws)[0]

    return UserProgram(run, (jnp.ones((32, 64)), jnp.ones((12, 64, 64))))


TABLE = np.random.default_rng(0).random((4096, 256), np.float32)


def captured_table() -> UserProgram:
    """XLA:GPU fuses the look-up into what is done with its rows, too."""

    def embed(i, v, x):
        y = jnp.take(jnp.asarray(TABLE), i, axis=0)  # looks the rows up
        return jnp.dot(v, y[0, :64]), y @ x

    return UserProgram(embed, (jnp.arange(8), jnp.ones((1000, 64)), jnp.ones((256, 4))))


PROGRAMS = (attention_scores, dense_layer, normalised, two_lines, update_in_place, scanned)


def line_of(words: str) -> str:
    """The first line of this file with these words, as the tables name it."""
    lines = Path(__file__).read_text().splitlines()
    return f"{Path(__file__).name}:{next(i for i, line in enumerate(lines, 1) if words in line)}"


def at_line(words: str, column: str) -> Callable[[Any], float]:
    """Asks for a figure of the source line with these words, in the totals by line."""

    def asked(inspection: Any) -> float:
        table, number = inspection.cost.by("line"), line_of(words)
        return float(sum(table[column][i] for i, line in enumerate(table["line"]) if line and line.endswith(number)))

    return asked


def of(group: str, name: str, column: str) -> Callable[[Any], float]:
    """Asks for a figure of one row in the totals of a group."""

    def asked(inspection: Any) -> float:
        table = inspection.cost.by(group)
        return float(sum(table[column][i] for i, key in enumerate(table[group]) if key and name in key))

    return asked


PRODUCT = 2 * M * K * N
SPLIT = "2 m k n; splitting k on a GPU adds less than 1 %"


@rows(
    *(Expectation(attention_scores, t, "FLOPs of the dot's line", at_line("x @ w", "FLOPs"), PRODUCT, SPLIT, (), .01)
      for t in TARGETS),
    *(Expectation(dense_layer, t, "FLOPs of the scope", of("scope", "project", "FLOPs"), PRODUCT, SPLIT, (), .01)
      for t in TARGETS),
    *(Expectation(dense_layer, t, "FLOPs of the bias's line", at_line("h + b", "FLOPs"), M * N, "one an element")
      for t in TARGETS),
    *(Expectation(scanned, t, "FLOPs of the body's line", at_line("h @ w", "FLOPs"), 12 * 2 * 32 * 64 * 64,
                  "12 products of 2 m k n", close=0.03) for t in TARGETS),
    *(Expectation(scanned, t, "transcendentals of the body's line", at_line("tanh(h)", "transcendentals"), 12 * 32 * 64,
                  "12 times one an element") for t in TARGETS),
    *(Expectation(two_lines, t, "transcendentals of exp's line", at_line("jnp.exp(x)", "transcendentals"), 1 << 20,
                  "one an element") for t in TARGETS),
    *(Expectation(two_lines, t, "bytes that exp's line reads", at_line("jnp.exp(x)", "bytes read"), 4 << 20,
                  "it alone uses x, of 4 MiB") for t in ("local", "h100")),
    *(Expectation(two_lines, t, "bytes that the product's line reads", at_line("a * y", "bytes read"), 4 << 20,
                  "it alone uses y, of 4 MiB") for t in ("local", "h100")),
    *(Expectation(two_lines, t, "bytes that the product's line writes", at_line("a * y", "bytes written"), 4 << 20,
                  "it alone makes the result, of 4 MiB") for t in ("local", "h100")),
    *(Expectation(update_in_place, t, "bytes that the update writes",
                  lambda ins: ins.cost.work.total_bytes, 2 * 1024 + 4, "a row of 256 f32 read and written, "
                  "and the scalar that says where") for t in ("local",)),
)  # fmt: skip
def test_work_of_a_line(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    Expectation(attention_scores, "v5e:2x2", "answers bound", answer("bound"), f"{line_of('x @ w')} (inferred) takes",
                "x @ w reads x and w, 786 kB of the 1.1 MB in HBM"),
    Expectation(dense_layer, "h100", "answers bound", answer("bound"), f"{line_of('h = x @ w  # dense')} takes",
                "x @ w reads x and w, 786 kB of the 918 kB that are moved"),
    Expectation(two_lines, "h100", "answers bound", answer("bound"), "takes 67% of that time",
                "y is read and the result written at one line: two of three arrays of one size"),
)  # fmt: skip
def test_the_line_that_takes_most(expectation: Expectation) -> None:
    holds(expectation)


def in_a_branch() -> UserProgram:
    def either(flag, x, w):
        return jax.lax.cond(flag, lambda x: jnp.tanh(x @ w @ w), lambda x: jnp.exp(x) * 2 + jnp.sin(x), x)

    return UserProgram(either, (True, jnp.ones((64, 64)), jnp.ones((64, 64))))


def test_a_line_of_a_branch_that_does_not_count_is_not_nothing() -> None:
    table = inspected(in_a_branch, "local").cost.by("opcode")
    at = list(table["opcode"]).index("sine")
    assert np.isnan(table["transcendentals"][at])
    assert table.reasons[at, "transcendentals"] == cost_wording.NOT_COUNTED


@pytest.mark.parametrize("target", [pytest.param("local"), pytest.param("v5e:2x2", marks=pytest.mark.needs("tpu")),
                                    pytest.param("h100", marks=pytest.mark.needs("cuda"))])  # fmt: skip
@pytest.mark.parametrize("program", [*PROGRAMS, in_a_branch])
def test_totals_of_every_group_are_the_totals(program: Callable[[], UserProgram], target: str) -> None:
    work = inspected(program, target).cost.work
    for group in GROUPS:
        table = work.by(group)
        assert np.nansum(table["FLOPs"]) == work.total_flops
        assert np.nansum(table["bytes read"]) + np.nansum(table["bytes written"]) == work.total_bytes
    for measure, whole in (("FLOPs", work.total_flops), ("bytes", work.total_bytes)):
        heat = columns(*ask(inspected(program, target).program, "heat", measure=measure))
        assert sum(heat["own"]) == whole
    parts = columns(*ask(inspected(program, target).program, "cost_parts"))
    assert sum(parts["FLOPs"]) == work.total_flops
    assert sum(parts["bytes"]) == work.total_bytes


def test_equations_of_both_branches_have_one_total() -> None:
    costs = inspected(in_a_branch, "local").cost
    equations, ledger = costs.equations, costs.ledger
    product = 2 * 64 * 64 * 64
    assert equations.total_flops == pytest.approx(2 * product, rel=0.01)
    assert ledger["jaxpr"][0] == equations.total_flops == np.nansum(equations.by("line")["FLOPs"])
    sine = list(equations.by("primitive")["primitive"]).index("sin")
    assert equations.by("primitive").reasons[sine, "transcendentals"] == cost_wording.NOT_COUNTED
    assert ledger["HLO"][1] == np.nansum(costs.by("line")["transcendentals"])


@pytest.mark.parametrize("target", ["local", "h100"])
def test_a_captured_table_is_held_for_the_line_that_reads_it(target: str) -> None:
    """By hand: the look-up is the one use of the 4.19 MB."""
    buffers = inspected(captured_table, target).memory.peak_set
    [line] = [row["line"] for row in buffers.rows() if row["size"] == TABLE.nbytes]
    assert line.endswith(line_of("looks the rows up"))
