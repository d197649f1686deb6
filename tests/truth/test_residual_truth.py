"""What a loop keeps belongs to the lines of its body; a policy's peak is that of the program compiled with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from tests.truth.expectation import Expectation, UserProgram, answer, holds, inspected, rows

LAYERS, BATCH, WIDTH = 4, 128, 64
STACK = LAYERS * BATCH * WIDTH * 4
FORWARD = 2 * LAYERS * BATCH * WIDTH * WIDTH
STAGED_TARGETS = ("local", "v5e:2x2", "h100")


def scanned_loss(ws: jax.Array, x: jax.Array) -> jax.Array:
    def layer(h: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        a = h @ w
        return jnp.sin(a), None

    h, _ = jax.lax.scan(layer, x, ws)
    return h.sum()


def _arrays() -> tuple[jax.Array, jax.Array]:
    key = jax.random.key(0)
    return jax.random.normal(key, (LAYERS, WIDTH, WIDTH)) / 8, jax.random.normal(key, (BATCH, WIDTH))


def scanned() -> UserProgram:
    return UserProgram(jax.jit(jax.value_and_grad(scanned_loss)), _arrays())


def scanned_with_nothing_saved() -> UserProgram:
    loss = jax.checkpoint(scanned_loss, policy=jax.checkpoint_policies.nothing_saveable)
    return UserProgram(jax.jit(jax.value_and_grad(loss)), _arrays())


def scanned_with_dots_saved() -> UserProgram:
    loss = jax.checkpoint(scanned_loss, policy=jax.checkpoint_policies.dots_saveable)
    return UserProgram(jax.jit(jax.value_and_grad(loss)), _arrays())


def stacked_outputs() -> UserProgram:
    return UserProgram(_stacked, (jnp.ones((BATCH, WIDTH)),))


def _stacked(x: jax.Array) -> jax.Array:
    def body(h: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        h = jnp.cos(h)
        return h, jnp.exp(h) * 2

    return jax.lax.scan(body, x, None, length=16)[1]


def updated_in_place() -> UserProgram:
    return UserProgram(_updated, (jnp.ones((BATCH, WIDTH)),))


def _updated(x: jax.Array) -> jax.Array:
    table = jnp.zeros((16, BATCH, WIDTH))

    def body(i: jax.Array, table: jax.Array) -> jax.Array:
        row = jnp.cos(x * i)
        return table.at[i].set(row)

    return jax.lax.fori_loop(0, 16, body, table)


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for _ in range(3):
            x = nn.gelu(nn.Dense(WIDTH)(x))
        return x


def _train_step(policy: Any) -> UserProgram:
    """A step as flax and optax users write it: the derivative stands inside."""
    model, optimizer = Mlp(), optax.adam(1e-3)
    x = jnp.ones((BATCH, WIDTH))
    params = model.init(jax.random.key(0), x)

    def step(params: Any, state: Any, x: jax.Array) -> Any:
        def loss(params: Any) -> jax.Array:
            return (model.apply(params, x) ** 2).mean()

        chosen = loss if policy is None else jax.checkpoint(loss, policy=policy)
        value, gradient = jax.value_and_grad(chosen)(params)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    return UserProgram(jax.jit(step, donate_argnums=(0, 1)), (params, optimizer.init(params), x))


def train_step() -> UserProgram:
    return _train_step(None)


def train_step_with_nothing_saved() -> UserProgram:
    return _train_step(jax.checkpoint_policies.nothing_saveable)


def at(function: Callable[..., Any], text: str) -> str:
    """`test_residual_truth.py:29`, the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(function)
    return f"{__name__.rpartition('.')[2]}.py:{first + next(i for i, line in enumerate(lines) if text in line)}"


def memory_line(inspection: Any) -> str:
    return str(inspection.answers["line"][2])


def advised(inspection: Any) -> str:
    return next(row["how"] for row in inspection.memory.advice.rows() if "checkpoint" in row["how"])


def lines_of(kind: str) -> Callable[[Any], list[str]]:
    def ask(inspection: Any) -> list[str]:
        table = inspection.memory.peak_set.rows()
        found = {row["line"].rpartition("/")[2] for row in table if row["kind"] == kind and row["size"] >= STACK}
        return sorted(found)

    return ask


def kept(inspection: Any) -> int:
    return sum(array.size for array in inspection.memory.residual_arrays() if not array.is_argument)


def kept_lines(inspection: Any) -> list[str]:
    return sorted(
        {array.line.rpartition("/")[2] for array in inspection.memory.residual_arrays() if not array.is_argument}
    )


def policy(name: str, column: str) -> Callable[[Any], Any]:
    """A figure of the policies' table after the policy was compiled."""

    def ask(inspection: Any) -> Any:
        inspection.memory.with_policy(name)
        return next(row[column] for row in inspection.memory.policies().rows() if row["policy"] == name)

    return ask


def beside(real: Callable[[], UserProgram], target: str, name: str, figure: str) -> Callable[[Any], float]:
    """A figure of a policy's trial over that of the program in which the user wrote `jax.checkpoint`."""

    def ask(inspection: Any) -> float:
        trial, written = inspection.memory.with_policy(name), inspected(real, target)
        theirs = written.memory.space().peak if figure == "peak" else written.cost.work.total_flops
        return float(getattr(trial, figure) / theirs)

    return ask


BODY, CARRIED = at(scanned_loss, "jnp.sin(a)"), at(scanned_loss, "h @ w")
CALL = at(scanned_loss, "jax.lax.scan")
BY_HAND = "hand: sin keeps cos(a) and the product keeps h, each 4 x 128 x 64 f32; both are made at the line of sin"
BY_JAX = "the same program with jax.checkpoint written around its loss; XLA may schedule one temporary otherwise"


@rows(
    *(
        Expectation(scanned, target, "answers memory line", memory_line, BODY, BY_HAND, (CALL,))
        for target in ("local", "h100")
    ),
    *(
        Expectation(scanned, target, "advice line", advised, BODY, BY_HAND, (CALL,))
        for target in ("local", "h100")
    ),
    *(
        Expectation(scanned, target, "lines of the residuals at the peak", lines_of("residual"), [BODY], BY_HAND)
        for target in ("local", "h100")
    ),
    *(Expectation(scanned, target, "residual bytes", kept, 2 * STACK, BY_HAND) for target in STAGED_TARGETS),
    Expectation(scanned, "local", "residual lines", kept_lines, [BODY], BY_HAND),
    *(
        Expectation(
            stacked_outputs, target, "answers memory line", memory_line, at(_stacked, "jnp.exp(h)"),
            "hand: the result is the stack of exp(h) * 2, 16 of the 17 arrays", (at(_stacked, "length=16"),)
        )
        for target in STAGED_TARGETS
    ),
    *(
        Expectation(
            updated_in_place, target, "answers memory line", memory_line, at(_updated, ".set(row)"),
            "hand: the user's own update writes the table, at its own line"
        )
        for target in ("local", "h100")
    ),
    *(
        Expectation(
            scanned, target, "FLOPs recomputed with nothing saved", policy("nothing_saveable", "recomputed"), FORWARD,
            "hand: the forward products once more; 5% for sin and cos", close=0.05
        )
        for target in STAGED_TARGETS
    ),
    Expectation(scanned, "local", "residuals with nothing saved", policy("nothing_saveable", "residuals"), 0, BY_HAND),
    Expectation(
        scanned, "local", "policy not compiled", lambda i: i.memory.policies().reasons[4, "peak"],
        "not compiled yet: .memory.with_policy('everything_saveable')", "nobody compiled it"
    ),
)  # fmt: skip
def test_what_a_loop_keeps(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    *(
        Expectation(
            program, target, f"{figure} with {name}", beside(real, target, name, figure), 1.0, BY_JAX, close=close
        )
        for target in STAGED_TARGETS
        for program, real, name in (
            (scanned, scanned_with_nothing_saved, "nothing_saveable"),
            (scanned, scanned_with_dots_saved, "dots_saveable"),
            (train_step, train_step_with_nothing_saved, "nothing_saveable"),
        )
        for figure, close in (("peak", 0.06), ("flops", 0.02))
    ),
    Expectation(
        train_step, "local", "sentence of a policy", lambda i: str(i.memory.with_policy("nothing_saveable")),
        "nothing_saveable: peak of", "the figures are compared above", ("kept",)
    ),
)  # fmt: skip
def test_policies_are_what_jax_checkpoint_compiles_to(expectation: Expectation) -> None:
    holds(expectation)


def test_as_many_bytes_as_jax_says_are_saved() -> None:
    from jax._src.ad_checkpoint import saved_residuals

    saved = saved_residuals(scanned_loss, *_arrays())
    assert kept(inspected(scanned, "local")) == sum(
        int(np.prod(aval.shape)) * aval.dtype.itemsize for aval, source in saved if "argument" not in source
    )


def test_the_answer_names_the_sum_of_its_line() -> None:
    inspection = inspected(scanned, "local")
    table = [row for row in inspection.memory.peak_set.rows() if row["kind"] != "argument"]
    total: dict[str, int] = {}
    for row in table:
        total[row["line"]] = total.get(row["line"], 0) + int(row["size"])
    line = max((line for line in total if line), key=lambda line: total[line])
    assert memory_line(inspection) == line and line in answer("memory")(inspection)
