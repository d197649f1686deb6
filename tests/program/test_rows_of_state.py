"""Which dimensions of returned state are a batch: those of which a run shows that no row depends on another."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searched_models import moe

import jaxstage_ext
from jaxstage_ext.program.searching.searched_problem import posed
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.search_problem import DimensionRole, SearchedArgument, SearchLimits, SearchProblem

CHAINS, MEMBERS, ROWS = 64, 16, 32


def normal(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(len(sizes) + sum(sizes)), sizes) / 8


def log_density(q: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    logits = q @ x.T
    return jnp.sum(y * logits - jnp.logaddexp(0.0, logits), -1) - jnp.sum(q * q, -1) / 2


def hmc(state: Any, x: jax.Array, y: jax.Array) -> Any:
    """One transition of Hamiltonian Monte Carlo in each chain, with the mean rate of acceptance."""
    new, of_momentum, of_test = jax.random.split(state["key"], 3)
    gradient = jax.grad(lambda q: log_density(q, x, y).sum())
    momentum = jax.random.normal(of_momentum, state["q"].shape)

    def leapfrog(at: Any, _: None) -> Any:
        q, p = at
        p = p + 0.05 * gradient(q)
        q = q + 0.1 * p
        return (q, p + 0.05 * gradient(q)), None

    (q, p), _ = jax.lax.scan(leapfrog, (state["q"], momentum), None, length=3)
    energies = (log_density(q, x, y) - jnp.sum(p * p, -1) / 2, log_density(state["q"], x, y))
    rate = jnp.exp(jnp.minimum(0.0, energies[0] - energies[1] + jnp.sum(momentum * momentum, -1) / 2))
    accepted = jax.random.uniform(of_test, rate.shape) < rate
    return {"q": jnp.where(accepted[:, None], q, state["q"]), "key": new}, rate.mean()


def hidden(params: Any, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ params["up"] + params["bias"])


def train(params: Any, x: jax.Array, y: jax.Array) -> Any:
    loss, gradient = jax.value_and_grad(lambda p: jnp.mean((hidden(p, x) @ p["down"] - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), loss


def ensemble(params: Any, x: jax.Array, y: jax.Array) -> Any:
    return jax.vmap(train, (0, None, None))(params, x, y)


def predictions(params: Any, x: jax.Array) -> Any:
    return jax.vmap(lambda p, x: hidden(p, x) @ p["down"], (0, None))(params, x)


def flow(params: Any, state: Any) -> Any:
    """The flow of a diffusion model's ODE over a batch, in four steps of Euler's."""
    moved = jax.lax.fori_loop(0, 4, lambda _, x: x + 0.1 * hidden(params, x) @ params["down"], state["x"])
    return {"x": moved, "time": state["time"] + 0.4}


def recurrent(params: Any, carry: Any, x: jax.Array, y: jax.Array) -> Any:
    """A step of truncated backpropagation through time: the carry returns, the gradient sums over the batch."""

    def loss(p: Any) -> Any:
        cell = carry["c"] + hidden(p, x) @ p["down"]
        return jnp.mean((cell - y) ** 2), {"h": jnp.tanh(cell), "c": cell + carry["h"]}

    gradient, carried = jax.grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), carried


def over_time(params: Any, carry: Any, xs: jax.Array) -> Any:
    """The same cell over a sequence, time first."""

    def cell(at: Any, x: jax.Array) -> Any:
        new = jnp.tanh(at["c"] @ params["down"].T + x @ params["up"] + params["bias"]) @ params["down"]
        return {"h": new, "c": at["c"] + at["h"]}, new

    return jax.lax.scan(cell, carry, xs)


def acted(params: Any, state: Any) -> Any:
    """A policy in many environments, of which one array does not change."""
    moved = state["x"] + hidden(params, state["x"]) @ params["down"]
    return {"x": moved, "v": state["v"]}, moved.sum()


def descent(params: Any, gradient: Any, momentum: Any) -> Any:
    """An optimizer alone, in which every axis is a batch of independent rows, and none is meant."""
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum


def diffusion(grid: jax.Array, rate: jax.Array) -> jax.Array:
    """A step of heat on a torus: each cell and its four neighbours."""
    around = sum(jnp.roll(grid, shift, axis) for shift in (1, -1) for axis in (0, 1))
    return grid + rate * (around - 4 * grid)


def blurred(grid: jax.Array) -> jax.Array:
    """The same neighbours by a convolution with a constant stencil."""
    stencil = jnp.array([[0.0, 0.1, 0.0], [0.1, 0.6, 0.1], [0.0, 0.1, 0.0]])
    return jax.scipy.signal.convolve2d(grid, stencil, mode="same")


def bodies(state: Any, mass: jax.Array) -> Any:
    """Gravity: each body meets each."""
    apart = state["at"][None] - state["at"][:, None]
    pull = (mass[None, :, None] * apart / ((apart**2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)
    speed = state["speed"] + 0.01 * pull
    return {"at": state["at"] + 0.01 * speed, "speed": speed}


def softmax(params: Any, x: jax.Array, label: jax.Array) -> Any:
    """A classifier whose weights have the classes first: the first axis of all that has it, yet no batch."""

    def loss(p: Any) -> jax.Array:
        logits = jax.nn.log_softmax(x @ p["weight"].T + p["bias"])
        return -jnp.mean(jnp.take_along_axis(logits, label[:, None], 1))

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))


def weights(*first: int) -> Any:
    return {"up": normal(*first, 8, 24), "bias": normal(*first, 24), "down": normal(*first, 24, 8)}


class State(NamedTuple):
    """A program, its arguments, which of them have rows, and the role of each axis of some arguments."""

    program: Any
    arguments: tuple[Any, ...]
    rows: tuple[str, ...]
    roles: dict[str, str]
    parameters: str


STATES = {
    "chains": State(
        hmc, ({"q": normal(CHAINS, 12), "key": jnp.zeros(2, jnp.uint32)}, normal(40, 12), normal(40)),
        ("q",), {"state['q']": "BATCH MODEL"}, "state",
    ),
    "ensemble": State(
        ensemble, (weights(MEMBERS), normal(ROWS, 8), normal(ROWS, 8)), ("up", "bias", "down"),
        {"params['up']": "BATCH MODEL MODEL", "params['bias']": "BATCH MODEL", "x": "BATCH MODEL"}, "params",
    ),
    "predictions": State(
        predictions, (weights(MEMBERS), normal(ROWS, 8)), ("up", "bias", "down"),
        {"params['up']": "BATCH MODEL MODEL"}, "params",
    ),
    "flow": State(
        flow, (weights(), {"x": normal(ROWS, 8), "time": jnp.zeros(())}), ("x",),
        {"state['x']": "BATCH MODEL", "params['up']": "MODEL MODEL"}, "params",
    ),
    "carry": State(
        recurrent, (weights(), {"h": normal(ROWS, 8), "c": normal(ROWS, 8)}, normal(ROWS, 8), normal(ROWS, 8)),
        ("h", "c"), {"carry['h']": "BATCH MODEL", "x": "BATCH MODEL", "params['up']": "MODEL MODEL"}, "params",
    ),
    "time first": State(
        over_time, (weights(), {"h": normal(ROWS, 8), "c": normal(ROWS, 8)}, normal(5, ROWS, 8)), ("h", "c"),
        {"carry['h']": "BATCH MODEL", "params['up']": "MODEL MODEL"}, "params",
    ),
    "environments": State(
        acted, (weights(), {"x": normal(ROWS, 8), "v": normal(ROWS, 8)}), ("x", "v"),
        {"state['x']": "BATCH MODEL", "params['up']": "MODEL MODEL"}, "params",
    ),
    "train": State(
        train, (weights(), normal(ROWS, 8), normal(ROWS, 8)), (),
        {"params['up']": "MODEL MODEL", "params['bias']": "MODEL", "x": "BATCH MODEL"}, "params",
    ),
    "optimizer": State(
        descent, (weights(), weights(), weights()), (), {"params['up']": "MODEL MODEL"}, "",
    ),
    "grid": State(diffusion, (normal(32, 48), jnp.float32(0.1)), (), {"grid": "SPATIAL SPATIAL"}, ""),
    "stencil": State(blurred, (normal(32, 48),), (), {"grid": "SPATIAL SPATIAL"}, ""),
    "bodies": State(
        bodies, ({"at": normal(32, 3), "speed": normal(32, 3)}, jnp.ones(32)), (),
        {"state['at']": "SPATIAL SPATIAL", "state['speed']": "SPATIAL SPATIAL", "mass": "SPATIAL"}, "",
    ),
    "product": State(
        jnp.matmul, (normal(32, 16), normal(16, 24)), (), {"a": "BATCH MODEL", "b": "MODEL SPATIAL"}, "",
    ),
    "covariance": State(lambda x: x.T @ x / len(x), (normal(32, 16),), (), {"x": "BATCH SPATIAL"}, ""),
    "classes first": State(
        softmax, ({"weight": normal(16, 8), "bias": normal(16)}, normal(ROWS, 8), jnp.zeros(ROWS, jnp.int32)), (),
        {"params['weight']": "MODEL MODEL", "params['bias']": "MODEL", "x": "BATCH MODEL"}, "params",
    ),
}  # fmt: skip


SIMULATED = ("grid", "stencil", "bodies")


def problem_of(function: Any, *arguments: Any) -> SearchProblem:
    program = jaxstage_ext.inspect(function, *arguments, target="cpu:8", stage="lower").program
    return posed(program, SearchLimits()).problem


def roles(problem: SearchProblem, argument: SearchedArgument) -> str:
    return " ".join(problem.by_name[name].role.name for name in argument.dimensions if name)


def changed_rows(state: State) -> tuple[int, set[int]]:
    """How many rows the results have, and those that change where the first row of all that has rows does."""

    def first_row(path: Any, leaf: jax.Array) -> jax.Array:
        return leaf.at[0].add(0.5) if any(repr(name) in str(path[-1]) for name in state.rows) else leaf

    other = jax.tree_util.tree_map_with_path(first_row, state.arguments)
    results = [
        (np.asarray(one), np.asarray(two))
        for (path, one), two in zip(
            jax.tree_util.tree_leaves_with_path(state.program(*state.arguments)),
            jax.tree.leaves(state.program(*other)),
            strict=True,
        )
        if not path or any(repr(name) in str(path[-1]) for name in state.rows)
    ]
    rows = {int(row) for one, two in results for row in np.argwhere(np.abs(one - two) > 1e-6)[:, 0]}
    return len(results[0][0]), rows


def rows_that_follow(state: State) -> set[int]:
    """The rows of the first result that change where the first row of the first argument does."""
    first, *others = state.arguments
    other = jax.tree.map(lambda leaf: leaf.at[0].add(0.5), first)
    one, two = (jax.tree.leaves(state.program(given, *others))[0] for given in (first, other))
    return {int(row) for row in np.argwhere(np.abs(np.asarray(one) - np.asarray(two)) > 1e-7)[:, 0]}


@pytest.mark.parametrize("name", STATES)
def test_rows_of_state_are_a_batch_and_features_are_not(name: str) -> None:
    state = STATES[name]
    problem = problem_of(state.program, *state.arguments)
    found = {argument.path: roles(problem, argument) for argument in problem.arguments}
    assert {path: found[path] for path in state.roles} == state.roles
    updated = {one.path.partition("[")[0] for one in problem.arguments if one.is_parameter}
    assert updated == {state.parameters} or not state.parameters
    if name in SIMULATED:
        assert not updated and "batch" not in problem.by_name, "no weights, and no row is alone"
        assert len(rows_that_follow(state)) > 1, "a run says that rows depend on each other"
    if name in ("flow", "carry", "time first", "environments"):
        assert "batch" in problem.by_name and problem.by_name["batch"].role is DimensionRole.BATCH
        assert any("batch" in one.dimensions for one in problem.arguments if repr(state.rows[0]) in one.path)
    if state.rows:
        count, changed = changed_rows(state)
        assert changed == {0} and count > 1, "a run says that rows are independent"


def test_experts_are_no_ensemble() -> None:
    step, arguments = moe(8, 16, 32, 64)
    problem = problem_of(step, *arguments)
    up = next(one for one in problem.arguments if one.path == "params['up']")
    assert problem.by_name[up.dimensions[0]].role is DimensionRole.EXPERT


def test_chains_and_members_are_split_as_data() -> None:
    for name, dimension in (("chains", "q_axis0"), ("ensemble", "ensemble")):
        state = STATES[name]
        search = jaxstage_ext.find_shardings(state.program, *state.arguments, target="cpu:8", confirm=0, most_axes=1)
        split = next(one for one in search.found.layouts if one.candidate and one.candidate.axes_of(dimension))
        assert split.kind is LayoutKind.DATA and split.mesh == {"data": 8}
        assert sum(part.bytes for part in split.estimate.parts) <= 4, "a mean of the chains' rates"
