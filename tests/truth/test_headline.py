"""The header, Compare, text, HTML and Answers show the counts of Cost, Memory and Collectives: known another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.views.static_html import panel_html
from tests.truth.expectation import Expectation, UserProgram, answer, header, holds, rows


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def twelve_layers() -> UserProgram:
    """Twelve products in a scan, as layers of one shape are written."""

    def forward(w: Any, x: Any) -> Any:
        return jax.lax.scan(lambda x, w: (x @ w, None), x, w)[0]

    return UserProgram(forward, (shape(12, 256, 256), shape(128, 256)))


def power_iteration() -> UserProgram:
    """As many products as it takes: the trip count depends on the data."""

    def unfinished(state: Any) -> Any:
        return jnp.abs(state[0] - state[1]).max() > 1e-6

    def step(a: Any) -> Callable[[Any], Any]:
        return lambda state: (a @ state[0], state[0])

    return UserProgram(
        lambda a, v: jax.lax.while_loop(unfinished, step(a), (v, jnp.zeros_like(v)))[0],
        (shape(256, 256), shape(256, 128)),
    )


def eigenvalues() -> UserProgram:
    """Iterations whose number no formula gives, in a library call or in a loop."""
    return UserProgram(lambda a: jnp.linalg.eigh(a)[0], (shape(64, 64),))


def sgd_step() -> UserProgram:
    """Parameters that are donated: the new ones take their memory."""

    def step(w: Any, g: Any) -> Any:
        return w - 0.1 * g

    return UserProgram(jax.jit(step, donate_argnums=0), (shape(1024, 1024), shape(1024, 1024)))


def mlp_gradient() -> UserProgram:
    """Residuals make its temporaries larger than all that XLA's CPU peak counts."""

    def loss(w: Any, x: Any) -> Any:
        return jnp.sum(jnp.tanh(x @ w[0]) @ w[1])

    return UserProgram(jax.grad(loss), ((shape(64, 2048), shape(2048, 64)), shape(4096, 64)))


def pallas_kernel() -> UserProgram:
    """A kernel of which XLA's cost analysis says -1."""
    whole = shape(256, 256)

    def kernel(x: Any, out: Any) -> None:
        out[...] = x[...] * 2

    return UserProgram(lambda x: pl.pallas_call(kernel, out_shape=whole)(x), (whole,))


def data_parallel() -> UserProgram:
    """Gradients of eight devices, summed."""
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
    return UserProgram(_summed(mesh), (shape(512, 256), shape(512, 256)))


def _summed(mesh: Mesh) -> Any:
    rows_of = NamedSharding(mesh, P("data"))
    whole = NamedSharding(mesh, P())
    return jax.jit(lambda x, y: x.T @ y, in_shardings=(rows_of, rows_of), out_shardings=whole)


def compared(name: str) -> Callable[[Any], Any]:
    """A figure of Compare."""
    return lambda inspection: inspection.row().figures[name].value


def compared_text(name: str) -> Callable[[Any], str]:
    """A figure of Compare as it is shown."""
    return lambda inspection: str(inspection.compare().to_dict()["rows"][0]["cells"][name]["text"])


def shown(ask: Callable[[Any], str]) -> Callable[[Any], float]:
    """The first figure of a text, without its prefix: 1.2e9 of "at least 1.2 GFLOP"."""

    def figure(inspection: Any) -> float:
        words = ask(inspection).removeprefix("at least ").split()
        return float(words[0]) * {"k": 1e3, "M": 1e6, "G": 1e9}.get(words[1][0], 1.0)

    return figure


def as_text(inspection: Any) -> str:
    return repr(inspection)


def as_html(inspection: Any) -> str:
    return panel_html([inspection.program])


def labels(inspection: Any) -> list[str]:
    return [fact["label"] for fact in inspection.summary()["facts"] if not fact["label"].endswith("00 memory")]


COMPILED = 0.02
"""What compilers may add: sums of a product that is split, counters of loops."""
LAYERS = 2 * 128 * 256 * 256 * 12
LAYERS_BY = "2 m k n of twelve products; XLA's cost analysis has one of them, 16.8 MFLOP"
ONE = ("16.8 MFLOP",)
OPEN_BY = "2 m k n and a test of three operations an element; how often depends on the data"
TESTED = 3 * 256 * 128
DONATED = 2 * 1024 * 1024 * 4
SENT = 2 * 3 / 4 * 256 * 256 * 4
SENT_BY = "an all-reduce of n devices sends at least 2 (n - 1) / n of its bytes"
SHARP = 256 * 256 * 4
SHARP_BY = "NVLink switches reduce: a device sends its bytes once (Klenk et al., ISCA 2020)"
STANDARD = ["FLOPs", "bytes moved", "memory needed"]
SCHEDULED = ["FLOPs", "bytes moved", "XLA's estimate", "memory needed"]


@rows(
    Expectation(twelve_layers, "local", "header FLOPs", header("FLOPs"), "201 MFLOP", LAYERS_BY, ONE),
    Expectation(twelve_layers, "h100", "header FLOPs", shown(header("FLOPs")), LAYERS, LAYERS_BY, close=COMPILED),
    Expectation(twelve_layers, "v5e:2x2", "header FLOPs", shown(header("FLOPs")), LAYERS, LAYERS_BY, close=COMPILED),
    Expectation(twelve_layers, "local", "Compare FLOPs", compared("flops"), LAYERS, LAYERS_BY),
    Expectation(twelve_layers, "h100", "Compare FLOPs", compared("flops"), LAYERS, LAYERS_BY, close=COMPILED),
    Expectation(twelve_layers, "v5e:2x2", "Compare FLOPs", compared("flops"), LAYERS, LAYERS_BY, close=COMPILED),
    Expectation(twelve_layers, "local", "text", as_text, "FLOPs 201 MFLOP", LAYERS_BY, ONE),
    Expectation(twelve_layers, "local", "HTML", as_html, "FLOPs 201 MFLOP", LAYERS_BY, ONE),
    Expectation(twelve_layers, "v5e:2x2", "Cost", shown(lambda i: i.cost.headline), LAYERS, LAYERS_BY, close=COMPILED),
    Expectation(
        twelve_layers, "local", "header labels", labels, STANDARD, "XLA's own figures have their place in the ledgers"
    ),
    Expectation(
        twelve_layers,
        "h100",
        "header labels",
        labels,
        SCHEDULED,
        "as above; XLA schedules the loops for an H100 by times",
    ),
)
def test_loops_count_as_often_as_they_run(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    Expectation(power_iteration, "local", "header FLOPs", header("FLOPs"), "at least 98.3 kFLOP (16.9 MFLOP", OPEN_BY),
    Expectation(power_iteration, "h100", "header FLOPs", shown(header("FLOPs")), TESTED, OPEN_BY, close=COMPILED),
    Expectation(power_iteration, "v5e:2x2", "header FLOPs", header("FLOPs"), "(16.9 MFLOP with one", OPEN_BY),
    Expectation(power_iteration, "local", "header bytes", header("bytes moved"), "at least ", OPEN_BY),
    Expectation(power_iteration, "local", "Compare FLOPs", compared_text("flops"), "at least 98.3 kFLOP", OPEN_BY),
    Expectation(power_iteration, "h100", "Compare FLOPs", compared_text("flops"), "at least 98", OPEN_BY),
    Expectation(power_iteration, "v5e:2x2", "Compare bytes", compared_text("bytes"), "at least ", OPEN_BY),
    Expectation(power_iteration, "local", "text", as_text, "FLOPs at least 98.3 kFLOP (16.9 MFLOP", OPEN_BY),
    Expectation(power_iteration, "h100", "HTML", as_html, "FLOPs at least 98", OPEN_BY),
    Expectation(power_iteration, "local", "Cost", lambda i: i.cost.headline, "at least 98.3 kFLOP", OPEN_BY),
    Expectation(eigenvalues, "local", "header FLOPs", header("FLOPs"), "at least ", "LAPACK's iterations are unknown"),
    Expectation(eigenvalues, "h100", "header FLOPs", header("FLOPs"), "at least ", "cuSOLVER's are unknown"),
    Expectation(eigenvalues, "h100", "Compare FLOPs", compared_text("flops"), "at least ", "cuSOLVER's are unknown"),
)
def test_what_is_open_says_at_least(expectation: Expectation) -> None:
    holds(expectation)


def jaxs_own(inspection: Any) -> float:
    """Arguments, results and temporaries by JAX, which are disjoint; what it gives of them is not doubted."""
    stats = inspection.compiled.memory_analysis()
    return float(stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes)


def needed_over_jaxs(inspection: Any) -> float:
    return float(inspection.row().figures["memory"].value) / jaxs_own(inspection)


DONATED_BY = "two arrays of 1024 * 1024 floats: the result takes the memory of the donated one"


@rows(
    Expectation(sgd_step, "local", "header memory", header("memory needed"), "8.39 MB", DONATED_BY),
    Expectation(sgd_step, "local", "Compare memory", compared("memory"), DONATED, DONATED_BY),
    Expectation(sgd_step, "local", "Answers", answer("fit"), "it needs 8.39 MB of the ", DONATED_BY),
    Expectation(sgd_step, "h100", "Answers", answer("fit"), "it needs 8.39 MB of the 84.9 GB", DONATED_BY),
    Expectation(sgd_step, "local", "Memory", lambda i: i.memory.space().reserved, DONATED, DONATED_BY),
    Expectation(mlp_gradient, "local", "Compare memory", needed_over_jaxs, 1.0, "JAX's sizes; constants are 4 B"),
    Expectation(
        mlp_gradient,
        "local",
        "peak is not smaller than temp",
        lambda i: i.memory.space().peak >= i.compiled.memory_analysis().temp_size_in_bytes,
        True,
        "temporaries of one allocation are part of the peak; XLA's CPU peak, 2.1 MB, leaves them out",
    ),
    Expectation(mlp_gradient, "local", "header", labels, STANDARD, "XLA's peak and temp stand in Memory's ledger"),
)
def test_memory_is_what_xla_allocates(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    Expectation(data_parallel, "local", "Compare sent", compared("sent"), SENT, SENT_BY),
    Expectation(data_parallel, "v5e:2x2", "Compare sent", compared("sent"), SENT, SENT_BY),
    Expectation(data_parallel, "h100:4", "Compare sent", compared("sent"), SHARP, SHARP_BY),
    Expectation(data_parallel, "h100:4", "Collectives", lambda i: sum(i.collectives.table["sent"]), SHARP, SHARP_BY),
    Expectation(
        data_parallel, "local", "header FLOPs", header("FLOPs"), "16.8 MFLOP", "2 m k n / 4: each device has 128 rows"
    ),
    Expectation(
        data_parallel, "v5e:2x2", "Compare FLOPs", compared("flops"), 2 * 256 * 128 * 256, "2 m k n / 4", close=COMPILED
    ),
    Expectation(data_parallel, "h100:4", "Compare collectives", compared("collectives"), 1, "one sum of gradients"),
)
def test_collectives_of_compare_are_those_of_the_collectives_tab(expectation: Expectation) -> None:
    holds(expectation)


def xlas_figures(inspection: Any) -> list[Any]:
    """The column of the ledger that is XLA's."""
    return [row["XLA"] for row in inspection.cost.ledger.rows()]


def xlas_estimate(name: str) -> Callable[[Any], bool]:
    """Whether the compiler's own estimate stands in the ledger, and not in Compare."""

    def asked(inspection: Any) -> bool:
        return name in list(inspection.cost.ledger[""]) and name not in str(inspection.compare())

    return asked


MINUS_ONE = "XLA's cost analysis gives -1 for a custom call, which means that it does not know"


@rows(
    Expectation(pallas_kernel, "v5e:2x2", "ledger", xlas_figures, [None, None, None], MINUS_ONE),
    Expectation(pallas_kernel, "v5e:2x2", "text", lambda i: "-1" in as_text(i).split("source")[0], False, MINUS_ONE),
    Expectation(pallas_kernel, "v5e:2x2", "header bytes", header("bytes moved"), "524 kB", "256 KiB in, 256 KiB out"),
    Expectation(twelve_layers, "v5e:2x2", "cycles", xlas_estimate("estimated cycles"), True, "XLA's own figures"),
)
def test_xlas_own_figures_stand_in_the_ledger(expectation: Expectation) -> None:
    holds(expectation)
