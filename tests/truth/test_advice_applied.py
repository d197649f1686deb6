"""What advice says that a change does, beside the program with the change made by hand, as JAX compiles it."""

from __future__ import annotations

import re
import warnings
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import pytest
from jax import lax

from jaxstage_ext import inspect, load
from jaxstage_ext.analysis.memory.memory_advice import Suggestion
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable

N = 256


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def update(p: Any, x: Any) -> Any:
    gradient = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"] + p["b"]) ** 2))(p)
    return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient)


PROGRAMS = {
    "product": (lambda x, w: x @ w, (f32(N, N), f32(N, N))),
    "roll": (lambda x: (jnp.roll(x, 1) + x, x[::-1]), (f32(N, N),)),
    "swap": (lambda x, y: (y, x), (f32(N, N), f32(N, N))),
    "set": (lambda c, v: (c.at[3].set(v), c.sum()), (f32(N, N), f32(N))),
    "scan": (lambda c, xs: lax.scan(lambda c, x: (jnp.sin(c) + x, c.sum()), c, xs), (f32(N, N), f32(4, N, N))),
    "sort": (lambda x: (jnp.sort(x, 0), jnp.argmax(x, 0)), (f32(N, N),)),
    "solve": (lambda a, b: jnp.linalg.solve(jnp.linalg.cholesky(a), b), (f32(64, 64), f32(64, 64))),
    "increment": (lambda x: x + 1, (f32(N, N),)),
    "train step": (update, ({"w": f32(N, N), "b": f32(N)}, f32(8, N))),
    "half of a dictionary": (
        lambda p: ({"a": p["a"] * 2}, p["b"].sum()), ({"a": f32(N, N), "b": f32(N, N, 2)},),
    ),
}  # fmt: skip


def needed(compiled: Any) -> int:
    of = compiled.memory_analysis()
    return int(
        of.argument_size_in_bytes + of.output_size_in_bytes + of.temp_size_in_bytes - of.alias_size_in_bytes
    )  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_donation_saves_what_it_is_said_to(name: str) -> None:
    function, arguments = PROGRAMS[name]
    memory = inspect(function, *arguments).memory
    [item] = [item for item in memory.suggestions if item.kind is Suggestion.NOT_DONATED]
    [before] = [row["how"] for row in memory.advice.rows() if "onat" in row["what"]]
    assert not before.startswith("Donat")  # nothing is promised that was not computed
    trial = memory.with_donation(*item.names)
    roots = dict.fromkeys(re.split(r"[\[.]", path)[0] for path in item.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        donated = jax.jit(function, donate_argnames=tuple(roots)).lower(*arguments).compile()
    saved = needed(jax.jit(function).lower(*arguments).compile()) - needed(donated)
    assert trial.saved == saved
    [after] = [row["how"] for row in memory.advice.rows() if "onat" in row["what"]]
    assert after == str(trial)
    is_worth_it = saved > 0.005 * trial.written.needed
    assert after.startswith("Donate " if is_worth_it else "Donating ")
    if not is_worth_it:
        assert ("saves nothing" in after) == (saved <= 0)
    moved = donated.cost_analysis()["bytes accessed"]
    if name in ("product", "roll", "swap", "increment"):
        assert trial.moved.counted == pytest.approx(moved, rel=0.01)


def test_a_donation_that_is_not_used_is_named() -> None:
    function, arguments = PROGRAMS["half of a dictionary"]
    memory = inspect(function, *arguments).memory
    [item] = [item for item in memory.suggestions if item.kind is Suggestion.NOT_DONATED]
    assert item.names == ("p['a']",)
    assert memory.with_donation("p").unused == ("p['b']",)
    with pytest.raises(ValueError, match="has no argument 'q'"):
        memory.with_donation("q")


def recurrent(w: Any, x: Any) -> Any:
    return jax.grad(lambda w: jnp.sum(lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), x[0], x)[0] ** 2))(w)


def deep(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        y = x
        for _ in range(8):
            y = jnp.sin(jnp.cos(y @ w))
        return y.sum()

    return jax.grad(loss)(w)


@pytest.mark.parametrize(("function", "policy"), [(recurrent, "nothing_saveable"), (deep, "dots_saveable")])
def test_checkpointing_is_advised_only_where_its_trial_lowers_the_peak(function: Any, policy: str) -> None:
    arguments = (f32(N, N), f32(64, N, N) if function is recurrent else f32(4 * N, N))
    memory = inspect(function, *arguments).memory
    rows = [row for row in memory.advice.rows() if row["what"] == "Residuals live at the peak"]
    assert rows
    assert not rows[0]["how"].startswith("Use")
    trial = memory.with_policy(policy)
    [row] = [row for row in memory.advice.rows() if row["what"] == "Residuals live at the peak"]
    lower = trial.peak < memory.space().peak
    assert row["how"].startswith("Use jax.checkpoint" if lower else "jax.checkpoint saves nothing")
    assert scaled(trial.peak, "B") in row["how"]


def given(how: str, path: Any) -> Any:
    """The Inspection of one program, given as something that JAX made of it."""
    jitted, arguments = jax.jit(deep), (f32(N, N), f32(4 * N, N))
    if how == "a file":
        path.write_text(jitted.lower(*arguments).as_text())
        return load(path)
    of = {
        "a function": lambda: jitted,
        "a Traced": lambda: jitted.trace(*arguments),
        "a Lowered": lambda: jitted.lower(*arguments),
        "an Exported": lambda: jax.export.export(jitted)(*arguments),
        "a ClosedJaxpr": lambda: jax.make_jaxpr(deep)(*arguments),
    }[how]()
    return inspect(of, *(arguments if how == "a function" else ()))


@pytest.mark.parametrize(
    ("how", "can_try"),
    [
        ("a function", True),
        ("a Traced", True),
        ("a ClosedJaxpr", True),
        ("a Lowered", False),
        ("an Exported", False),
        ("a file", False),
    ],
)
def test_a_trial_is_offered_only_where_it_can_be_made(how: str, can_try: bool, tmp_path: Any) -> None:
    memory = given(how, tmp_path / "deep.mlir").memory
    [item] = [item for item in memory.suggestions if item.kind is Suggestion.NOT_DONATED]
    assert (".memory.with_" in str(memory)) == can_try
    for trial in (lambda: memory.with_donation(item.names[0]), lambda: memory.with_policy("dots_saveable")):
        if can_try:
            assert str(trial())
        else:
            with pytest.raises(Unavailable, match="did not trace this program"):
                trial()


def test_a_donation_of_many_leaves_is_written_so_that_it_can_be_pasted() -> None:
    """Of more than three leaves the parameters are named, which jit's donate_argnames takes too."""
    weights = {f"w{i}": f32(N, N) for i in range(5)} | {"last": f32(N)}

    def without_last(params: Any) -> Any:
        return {name: w * 2 for name, w in params.items() if name != "last"}, params["last"].sum()

    memory = inspect(without_last, weights).memory
    [item] = [one for one in memory.suggestions if one.kind is Suggestion.NOT_DONATED]
    assert len(item.names) == 5 and item.asked == ("params",)
    assert any(".memory.with_donation('params')" in row["how"] for row in memory.advice.rows())
    trial = memory.with_donation(*item.asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `last` is of no use
        donated = jax.jit(without_last, donate_argnames="params").lower(weights).compile()
    written = jax.jit(without_last).lower(weights).compile()
    assert trial.saved == needed(written) - needed(donated) == 5 * 4 * N * N
    assert any(row["how"] == str(trial) for row in memory.advice.rows())
    assert memory.untried_donation == (), "the page does not offer it once more"
