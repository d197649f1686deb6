"""Whose line an operation has: the user's own, else that of the library that was inspected, else a neighbour's."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from jaxstage_ext import inspect
from jaxstage_ext.report.frames import EVERYTHING
from tests.truth.expectation import Expectation, UserProgram, holds, rows
from tests.truth.source_asks import coverage, line_text, stack

X = jnp.ones((8, 16))

SAMPLER = '''"""A library: a sampler whose kernel loops over the user's density."""

import jax
import jax.numpy as jnp


def build(density, step):
    def leapfrog(position):
        gradient = jax.grad(density)(position)
        return position + step * jnp.tanh(gradient)

    def is_short(state):
        position, count = state
        return count < 4

    def kernel(position):
        def extend(state):
            position, count = state
            return leapfrog(position), count + 1

        moved, _ = jax.lax.while_loop(is_short, extend, (position, 0))
        return jnp.where(jnp.isfinite(moved), moved, position)

    return kernel
'''


@functools.cache
def sampler() -> ModuleType:
    """The library of `SAMPLER`, as if it were installed."""
    path = Path(tempfile.mkdtemp()) / "site-packages" / "drawer" / "kernels.py"
    path.parent.mkdir(parents=True)
    path.write_text(SAMPLER)
    spec = importlib.util.spec_from_file_location("drawer.kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def density(x):
    return -0.5 * jnp.sum(x**2)


def library_kernel() -> UserProgram:
    """A function of the library itself, as `blackjax.nuts(...).step` is one."""
    return UserProgram(sampler().build(density, 0.1), (X[0],))


def library_kernel_of_many() -> UserProgram:
    return UserProgram(jax.vmap(sampler().build(density, 0.1)), (X,))


def chain() -> UserProgram:
    def draw(start):
        kernel = sampler().build(density, 0.1)
        return jax.lax.scan(lambda at, _: (kernel(at), at), start, None, length=10)

    return UserProgram(draw, (X[0],))


def called_twice() -> UserProgram:
    def draw(start):
        kernel = sampler().build(density, 0.1)
        first = kernel(start)
        return kernel(first)

    return UserProgram(draw, (X[0],))


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.Dense(32)(x)
        hidden = nn.relu(hidden)
        return nn.Dense(4)(hidden)


def flax_model() -> UserProgram:
    model = Classifier()
    return UserProgram(model.apply, (model.init(jax.random.key(0), X), X))


def flax_layer() -> UserProgram:
    """A layer of the library itself: no line is the user's."""
    layer = nn.Dense(32)
    return UserProgram(layer.apply, (layer.init(jax.random.key(0), X), X))


def equinox_layer() -> UserProgram:
    return UserProgram(eqx.nn.Linear(16, 4, key=jax.random.key(0)), (X[0],))


def equinox_loss() -> UserProgram:
    model = eqx.nn.MLP(16, 4, 32, 1, key=jax.random.key(0))

    def loss(model, x):
        scores = jax.vmap(model)(x)
        return jnp.mean(scores**2)

    return UserProgram(lambda x: loss(model, x), (X,))


def optax_step() -> UserProgram:
    optimiser = optax.adam(1e-3)
    params = {"w": X}

    def step(params, state, x):
        grads = jax.grad(lambda p: jnp.sum(jnp.tanh(x * p["w"])))(params)
        updates, state = optimiser.update(grads, state)
        return optax.apply_updates(params, updates), state

    return UserProgram(step, (params, optimiser.init(params), X))


def optax_update() -> UserProgram:
    optimiser = optax.adam(1e-3)
    return UserProgram(optimiser.update, ({"w": X}, optimiser.init({"w": X})))


TANH = "library: return position + step * jnp.tanh(gradient)"
OWN = "direct: return -0.5 * jnp.sum(x**2)"
STEP = "the body of `leapfrog`"
SCAN = "direct: return jax.lax.scan(lambda at, _: (kernel(at), at), start, None, length=10)"
ENTRY = "the frames that JAX records for a direct call, innermost first"


@rows(
    Expectation(library_kernel, "local", "tanh jaxpr", line_text("jaxpr", "= tanh "), TANH, STEP),
    Expectation(library_kernel, "local", "tanh op", line_text("stablehlo", "tanh"), TANH, STEP),
    Expectation(library_kernel, "local", "tanh hlo", line_text("hlo", " tanh("), TANH, STEP),
    Expectation(library_kernel, "v5e:2x2", "tanh hlo", line_text("hlo", " tanh("), TANH, STEP),
    Expectation(library_kernel, "h100", "tanh hlo", line_text("hlo", " tanh("), TANH, STEP),
    Expectation(
        library_kernel,
        "local",
        "the user's density",
        line_text("jaxpr", "= reduce_sum"),
        OWN,
        "a frame of the user's is in the stack",
    ),
    Expectation(
        library_kernel,
        "local",
        "condition",
        line_text("jaxpr", "= lt "),
        "library: return count < 4",
        "the body of `is_short`",
    ),
    Expectation(
        library_kernel,
        "local",
        "loop",
        line_text("jaxpr", " = while["),
        "library: moved, _ = jax.lax.while_loop(is_short, extend, (position, 0))",
        "the call of `while_loop`",
    ),
    Expectation(
        library_kernel,
        "local",
        "no frame",
        line_text("jaxpr", "= select_n "),
        "inferred: return jnp.where(jnp.isfinite(moved), moved, position)",
        "JAX keeps no frame in `_where`, which this line calls",
    ),
    Expectation(
        library_kernel,
        "local",
        "coverage jaxpr",
        coverage("jaxpr"),
        (7, 8, 1, 0),
        "7 of `density` and its gradient; tanh, mul, 2 add, while, lt, is_finite, jit; select_n has none",
    ),
    Expectation(
        library_kernel,
        "local",
        "coverage op",
        lambda shown: shown.documents["stablehlo"].coverage.library,
        9,
        "by hand, from the text with locations",
    ),
    Expectation(
        library_kernel,
        "local",
        "stack in the loop",
        stack("jaxpr", "= tanh "),
        ["leapfrog", "extend", "kernel"],
        "the calls as they stand in the library",
    ),
    Expectation(
        library_kernel,
        "local",
        "header words",
        lambda shown: shown.documents["jaxpr"].source_of(2).library,
        False,
        "the first equation is the user's density",
    ),
    Expectation(library_kernel_of_many, "local", "tanh under vmap", line_text("hlo", " tanh("), TANH, STEP),
    Expectation(
        chain,
        "local",
        "tanh in a scan",
        line_text("jaxpr", "= tanh "),
        SCAN,
        "the innermost frame of the user's in its stack",
    ),
    Expectation(
        chain,
        "local",
        "stack in a scan",
        stack("jaxpr", "= tanh "),
        ["leapfrog", "extend", "kernel", "<lambda>", "draw"],
        ENTRY,
    ),
    Expectation(
        chain,
        "local",
        "stack in a scan, op",
        stack("stablehlo", "tanh"),
        ["leapfrog", "extend", "kernel", "<lambda>", "draw"],
        ENTRY,
    ),
    Expectation(
        chain,
        "local",
        "stack in a scan, hlo",
        stack("hlo", " tanh("),
        ["leapfrog", "extend", "kernel", "<lambda>", "draw"],
        ENTRY,
    ),
    Expectation(
        chain,
        "local",
        "library of a chain",
        lambda shown: [shown.documents[kind].coverage.library for kind in ("jaxpr", "stablehlo", "hlo")],
        [0, 0, 0],
        "every operation is under the user's scan",
    ),
    Expectation(
        called_twice,
        "local",
        "first call",
        line_text("jaxpr", "= tanh "),
        "direct: first = kernel(start)",
        "the first of two calls",
    ),
    Expectation(
        called_twice,
        "local",
        "condition of both",
        line_text("jaxpr", "= lt "),
        "library: return count < 4",
        "JAX holds one jaxpr for both calls: no one line of the user's made it",
    ),
    Expectation(
        flax_model,
        "local",
        "layer",
        line_text("jaxpr", "dot_general["),
        "direct: hidden = nn.Dense(32)(x)",
        "the user's line that calls the layer",
    ),
    Expectation(
        flax_model,
        "h100",
        "relu",
        line_text("hlo", " maximum("),
        "direct: hidden = nn.relu(hidden)",
        "the user's line that calls it",
    ),
    Expectation(
        flax_model,
        "local",
        "library of a model",
        lambda shown: shown.documents["hlo"].coverage.library,
        0,
        "every layer is called from the user's module",
    ),
    Expectation(
        flax_layer,
        "local",
        "coverage of a layer",
        lambda shown: shown.documents["jaxpr"].coverage.direct,
        0,
        "no line of the user's is in any stack",
    ),
    Expectation(
        flax_layer,
        "local",
        "every equation of a layer",
        lambda shown: (found := shown.documents["jaxpr"].coverage).library + found.inferred == found.total,
        True,
        "all frames are flax's",
    ),
    Expectation(
        flax_layer,
        "v5e:2x2",
        "file of a layer",
        lambda shown: (
            shown.documents["stablehlo"]
            .source_of(next(n for n, line in enumerate(shown.documents["stablehlo"].lines, 1) if "dot_general" in line))
            .label
        ),
        "flax/linen/linear.py",
        "Dense is there",
    ),
    Expectation(
        flax_layer,
        "local",
        "source pane of a layer",
        lambda shown: shown.documents["python"].text,
        "def __call__(self, inputs: Array) -> Array:",
        "the method that was inspected",
    ),
    Expectation(
        equinox_layer,
        "local",
        "equinox layer",
        line_text("jaxpr", "dot_general["),
        "library: x = self.weight @ x",
        "equinox/nn/_linear.py",
    ),
    Expectation(
        equinox_loss,
        "local",
        "equinox model",
        line_text("jaxpr", "dot_general["),
        "direct: scores = jax.vmap(model)(x)",
        "the user's line that calls the model",
    ),
    Expectation(
        optax_step,
        "local",
        "update",
        line_text("jaxpr", "= sqrt "),
        "direct: updates, state = optimiser.update(grads, state)",
        "the user's line that calls the optimiser",
    ),
    Expectation(
        optax_step,
        "h100",
        "update hlo",
        line_text("hlo", " sqrt("),
        "direct: updates, state = optimiser.update(grads, state)",
        "the user's line that calls the optimiser",
    ),
    Expectation(
        optax_update,
        "local",
        "package of an update",
        lambda shown: {
            span.label.split("/")[0]
            for n in range(1, len(shown.documents["jaxpr"]) + 1)
            if (span := shown.documents["jaxpr"].source_of(n))
        },
        {"optax"},
        "the inspected function is optax's",
    ),
)
def test_whose_line_an_operation_has(expectation: Expectation) -> None:
    holds(expectation)


def lines_that_count(inspection: Any, kind: str, libraries: tuple[str, ...]) -> set[str]:
    """The source lines of a document's operations, where those of some libraries count."""
    document = inspection.documents[kind]
    frames = document.frames.counting(libraries)
    spans = [frames.span(int(frames.user[frame])) for frame in document.frame.tolist() if frame >= 0]
    return {linecache.getline(span.file, span.line).strip() for span in spans}


def test_the_lines_of_a_library_count_where_it_is_chosen() -> None:
    function, arguments, *_ = flax_model()
    inspection = inspect(function, *arguments)
    mine = lines_that_count(inspection, "jaxpr", ())
    assert mine == {"hidden = nn.Dense(32)(x)", "hidden = nn.relu(hidden)", "return nn.Dense(4)(hidden)"}
    assert lines_that_count(inspection, "jaxpr", ("optax",)) == mine
    with_flax = lines_that_count(inspection, "jaxpr", ("flax",))
    assert with_flax == lines_that_count(inspection, "jaxpr", (EVERYTHING,))
    assert "hidden = nn.relu(hidden)" in with_flax
    assert not with_flax & {"hidden = nn.Dense(32)(x)", "return nn.Dense(4)(hidden)"}


def test_the_header_counts_the_lines_of_libraries_apart() -> None:
    function, arguments, *_ = library_kernel()
    inspection = inspect(function, *arguments, stage="trace")
    assert inspection.summary()["coverage"] == {"direct": 7, "library": 8, "inferred": 1, "total": 16}
    assert "100% of equations linked to source lines (7 direct, 8 library, 1 inferred, of 16)" in str(inspection)
