"""What goes in and comes out: devices, unused arguments, tokens of ordered effects, donations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from jaxstage_ext.analysis.memory.memory_advice import Suggestion
from jaxstage_ext.program.questions import answer_wording
from tests.truth.expectation import Expectation, UserProgram, holds, inspected, rows

SIDE = 64
SIZE = SIDE * SIDE * 4


def _square() -> jax.Array:
    return jnp.ones((SIDE, SIDE))


def printing() -> UserProgram:
    def report(x: jax.Array, unused: jax.Array) -> jax.Array:
        jax.debug.print("before {}", x.sum(), ordered=True)
        y = x @ x
        jax.debug.print("after {}", y.sum(), ordered=True)
        return y

    return UserProgram(report, (_square(), _square()))


def printing_in_a_loop() -> UserProgram:
    def body(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        jax.debug.print("{}", c.sum(), ordered=True)
        return c @ c * 0.1, c

    return UserProgram(lambda x: jax.lax.scan(body, x, None, length=3), (_square(),))


def calling_back() -> UserProgram:
    def double(x: jax.Array) -> jax.Array:
        shape = jax.ShapeDtypeStruct((SIDE, SIDE), jnp.float32)
        return io_callback(lambda v: np.asarray(v) * 2, shape, x, ordered=True) + 1

    return UserProgram(jax.jit(double, donate_argnums=0), (_square(),))


def printing_alone() -> UserProgram:
    return UserProgram(lambda: jax.debug.print("hello", ordered=True), ())


def with_token() -> UserProgram:
    return UserProgram(lambda x: (x @ x, jax.lax.create_token(x)), (_square(),))


def plain() -> UserProgram:
    return UserProgram(lambda x, y, unused: (x @ y, x.sum()), (_square(), _square(), _square()))


def committed() -> UserProgram:
    return UserProgram(lambda x, y: x @ y, (jax.device_put(_square(), jax.devices()[0]), np.ones((SIDE, SIDE))))


def both_donated() -> UserProgram:
    return UserProgram(jax.jit(lambda x, y: x @ y + 1, donate_argnums=(0, 1)), (_square(), _square()))


def one_donated() -> UserProgram:
    return UserProgram(jax.jit(lambda x, y: x @ y + 1, donate_argnums=0), (_square(), _square()))


def donated_for_nothing() -> UserProgram:
    return UserProgram(jax.jit(lambda x, y: (x @ y).astype(jnp.bfloat16), donate_argnums=0), (_square(), _square()))


def momentum() -> UserProgram:
    def update(p: jax.Array, m: jax.Array, g: jax.Array) -> tuple[jax.Array, jax.Array]:
        m = 0.9 * m + g
        return p - m, m

    return UserProgram(jax.jit(update, donate_argnums=0), (_square(), _square(), _square()))


def momentum_as_advised() -> UserProgram:
    function, arguments, _ = momentum()
    return UserProgram(jax.jit(function.__wrapped__, donate_argnums=(0, 1)), arguments)  # type: ignore[attr-defined]


def column(table: str, name: str) -> Callable[[Any], list[Any]]:
    """A column of `memory.arguments`, `memory.results` or `shardings`."""

    def ask(inspection: Any) -> list[Any]:
        shown = inspection.shardings.table if table == "shardings" else getattr(inspection.memory, table)
        return list(shown[name])

    return ask


def of_value(value: str, name: str) -> Callable[[Any], Any]:
    return lambda i: next(row[name] for row in i.shardings.table.rows() if row["value"] == value)


def donations(inspection: Any) -> list[tuple[Suggestion, tuple[str, ...], tuple[str, ...]]]:
    """Kind, arguments, and those whose memory the results reuse instead."""
    suggestions = inspection.memory.suggestions
    return [(item.kind, item.names, item.others) for item in suggestions if "DONAT" in item.kind.name]


def why_of_tokens(inspection: Any) -> set[str]:
    table = inspection.memory.peak_set.rows()
    return {row["why"] for row in table if row["kind"] in ("argument", "output") and not row["size"]}


def memory_answer(inspection: Any) -> str:
    return str(inspection.answers["answer"][2])


EFFECT = "JAX's lowering: a token before the arguments and the results for each kind of ordered effect"
DEFAULT = "JAX's documentation: uncommitted arrays go to the default device, or where committed ones are"
UNUSED = "JAX's documentation of keep_unused: unused arguments are not passed to XLA"
DONATED = "hand: one result of that shape takes one buffer"


@rows(
    Expectation(printing, "local", "arguments", column("arguments", "argument"), ["x", "unused"], EFFECT),
    Expectation(printing, "local", "results", column("results", "result"), ["token", "result"], EFFECT),
    Expectation(printing, "local", "size of results", column("results", "size"), [0, SIZE], "hand: 64 x 64 f32"),
    Expectation(printing, "local", "why of tokens", why_of_tokens, {"token"}, EFFECT),
    Expectation(printing, "cpu:1", "answers memory", memory_answer, "16.4 kB", "hand: x alone is sent"),
    Expectation(printing_in_a_loop, "local", "answers memory", memory_answer, "holds", EFFECT, ("unknown",)),
    Expectation(printing_in_a_loop, "local", "why of tokens", why_of_tokens, {"token"}, EFFECT),
    Expectation(calling_back, "local", "donation", column("arguments", "memory reused by"), ["result"], DONATED),
    Expectation(calling_back, "local", "results", column("results", "result"), ["token", "result"], EFFECT),
    Expectation(
        printing_alone, "local", "answers memory", memory_answer, answer_wording.nothing_held(0, 0), EFFECT
    ),
    *(
        Expectation(with_token, target, f"{name} of a token", of_value("result[1]", name), expected, "it holds no data")
        for target in ("local", "h100")
        for name, expected in (("type", "token"), ("per device", 0))
    ),
    *(
        Expectation(plain, target, "chosen by", column("shardings", "chosen by"), expected, DEFAULT)
        for target in ("local", "h100")
        for expected in (["default device", "default device", "", "default device", "default device"],)
    ),
    *(
        Expectation(plain, target, "sharding of an unused argument", of_value("unused", "sharding"), expected, UNUSED)
        for target in ("local", "v5e:2x2", "h100")
        for expected in ("not sent: unused",)
    ),
    Expectation(plain, "local", "bytes of an unused argument", of_value("unused", "per device"), 0, UNUSED),
    Expectation(
        plain, "local", "shardings as text", lambda i: str(i.shardings), "not sent: unused", UNUSED, ("unknown",)
    ),
    Expectation(
        committed, "local", "chosen by", column("shardings", "chosen by"),
        ["you", "committed arguments", "committed arguments"], DEFAULT
    ),
    *(
        Expectation(
            both_donated, target, "donation advice", donations,
            [(Suggestion.DONATION_TAKEN, ("y",), ("x",))], DONATED
        )
        for target in ("local", "v5e:2x2", "h100")
    ),
    *(
        Expectation(one_donated, target, "donation advice", donations, [], DONATED)
        for target in ("local", "h100")
    ),
    *(
        Expectation(
            donated_for_nothing, target, "donation advice", donations, [(Suggestion.DONATION_UNUSED, ("x",), ())],
            "hand: the result is bf16"
        )
        for target in ("local", "h100")
    ),
    *(
        Expectation(momentum, target, "donation advice", donations, [(Suggestion.NOT_DONATED, ("m",), ())], DONATED)
        for target in ("local", "h100")
    ),
    *(
        Expectation(
            momentum_as_advised, target, "donated as advised", column("arguments", "state"),
            ["donated and used", "donated and used", "not donated"], "XLA's aliases after doing what was advised"
        )
        for target in ("local", "h100")
    ),
)  # fmt: skip
def test_entries(expectation: Expectation) -> None:
    holds(expectation)


def test_following_the_advice_saves_what_it_says() -> None:
    advised = next(row["bytes"] for row in inspected(momentum, "local").memory.advice.rows() if "onat" in row["what"])
    before, after = (inspected(program, "local").memory.space().peak for program in (momentum, momentum_as_advised))
    assert before - after == advised == SIZE
