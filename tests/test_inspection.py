"""inspect(): what a user of the Python side sees."""

from __future__ import annotations

import functools
import operator
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext import Inspection, inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.staged import Cache, CacheHit, Stage
from jaxstage_ext.program.head import stage_wording

X = jnp.ones((8, 128))


W = jnp.ones((128, 512))


def loss(w, x):
    return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)))


def stages_of(inspection: Inspection) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in inspection.summary()["stages"]}


def test_every_stage_has_its_document_and_time() -> None:
    inspection = inspect(loss, W, X)
    assert list(inspection.documents) == ["python", "jaxpr", "stablehlo", "hlo"]
    assert set(inspection.seconds) == {"trace", "lower", "compile"}
    assert all(seconds > 0 for seconds in inspection.seconds.values())
    assert inspection.documents["stablehlo"].text == inspection.lowered.as_text()
    assert inspection.documents["jaxpr"].text == inspection.traced.jaxpr.pretty_print(use_color=False)
    assert float(inspection.compiled(W, X)) == pytest.approx(float(loss(W, X)))


@pytest.mark.parametrize(("stage", "last"), [("trace", "jaxpr"), ("lower", "stablehlo"), ("compile", "hlo")])
def test_stops_after_the_stage_asked_for(stage: str, last: str) -> None:
    inspection = inspect(loss, W, X, stage=stage)
    assert list(inspection.documents)[-1] == last
    assert (inspection.compiled is not None) == (stage == "compile")


class Doubler:
    def __call__(self, x):
        return x * 2

    def method(self, x):
        return x * 3


class Unhashable(Doubler):
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("fn", "args", "kwargs"),
    [
        (loss, (W, X), {}),
        (loss, (), {"w": W, "x": X}),
        (jax.jit(loss), (W, X), {}),
        (jax.grad(loss), (W, X), {}),
        (jax.vmap(jnp.sin), (X,), {}),
        (functools.partial(loss, W), (X,), {}),
        (Doubler(), (X,), {}),
        (Unhashable(), (X,), {}),
        (Doubler().method, (X,), {}),
        (jnp.add, (X, X), {}),
        (operator.add, (X, X), {}),
        (lambda: jnp.arange(3) * 2, (), {}),
        (lambda d: d["a"] @ d["b"][0], ({"a": X, "b": [jax.ShapeDtypeStruct((128, 4), jnp.float32)]},), {}),
        (jax.jit(lambda x, n: x * n, static_argnums=1), (X, 3), {}),
        (jax.jit(lambda x, *, n: x * n, static_argnames="n"), (X,), {"n": 3}),
        (jax.jit(lambda x: x * 2, donate_argnums=0), (jax.ShapeDtypeStruct((4,), jnp.float32),), {}),
        (jax.jit(lambda x, y: x * 2, keep_unused=True), (X, X), {}),
        (jax.pmap(lambda x: x * 2), (jnp.ones((1, 3)),), {}),
        (lambda key: jax.random.normal(key, (3,)), (jax.random.key(0),), {}),
        (lambda: 1.0, (), {}),
    ],
)
def test_everything_that_jax_can_stage(fn, args, kwargs) -> None:
    inspection = inspect(fn, *args, **kwargs)
    assert list(stages_of(inspection).values()) == ["done"] * 3
    assert len(inspection.documents["hlo"]) > 3
    assert inspection.traced is not None


def test_options_of_jit_are_kept() -> None:
    unused = inspect(jax.jit(lambda x, y: x * 2, keep_unused=True), X, X)
    assert unused.documents["hlo"].text.count("parameter(1)") == 1
    donated = inspect(jax.jit(lambda x: x * 2, donate_argnums=0), X)
    assert "input_output_alias" in donated.documents["hlo"].text.splitlines()[0]


def test_jit_options_of_the_call_are_applied() -> None:
    inspection = run(Call(lambda x, n: x * n, (X, 3), jit={"static_argnums": (1,)}))
    assert inspection.error is None
    assert np.asarray(inspection.execute())[0, 0] == 3
    refused = run(Call(jax.jit(loss), (W, X), jit={"donate_argnums": (0,)}))
    assert refused.error is not None
    assert "already jitted" in refused.error.message


def test_equinox_and_flax_and_optax_and_diffrax() -> None:
    equinox, nnx, linen, optax, diffrax = (
        pytest.importorskip(name) for name in ("equinox", "flax.nnx", "flax.linen", "optax", "diffrax")
    )
    mlp = equinox.nn.MLP(4, 2, 8, 2, key=jax.random.key(0))
    x = jnp.ones(4)
    filtered = inspect(equinox.filter_jit(lambda model, x: model(x)), mlp, x)
    assert np.allclose(filtered.compiled(mlp, x), mlp(x), atol=1e-6)
    assert "jaxpr" in filtered.documents
    linear = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
    assert np.allclose(inspect(nnx.jit(lambda m, x: m(x)), linear, x).execute(), linear(x), atol=1e-6)

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(3)(x).sum()

    net, optimizer = Net(), optax.adam(1e-3)
    params = net.init(jax.random.key(0), x)

    def step(params, state, x):
        value, gradient = jax.value_and_grad(net.apply)(params, x)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    document = inspect(step, params, optimizer.init(params), x).documents["hlo"]
    assert document.coverage.share == pytest.approx(1, abs=0.03)
    assert document.lines_from(__file__, step.__code__.co_firstlineno + 2)

    def solve(y0):
        term = diffrax.ODETerm(lambda t, y, args: -y)
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.1, y0).ys

    solved = inspect(solve, x).documents["hlo"]
    assert solved.lines_from(__file__, solve.__code__.co_firstlineno + 1)


def test_each_stage_is_announced_before_and_after() -> None:
    seen = []
    run(Call(loss, (W, X)), on_change=lambda ins: seen.append(tuple(stages_of(ins).values())))
    assert seen == [
        ("running", "waiting", "waiting"),
        ("done", "waiting", "waiting"),
        ("done", "running", "waiting"),
        ("done", "done", "waiting"),
        ("done", "done", "running"),
        ("done", "done", "done"),
    ]


def test_work_that_jax_did_before_is_not_shown_as_fast() -> None:
    jitted = jax.jit(lambda x: x * 3 + 1)
    inspect(jitted, X)
    notes = [stage["note"] for stage in inspect(jitted, X).summary()["stages"]]
    assert notes == ["cached", "cached", "cached"]


def test_a_plain_function_is_traced_at_each_inspection_so_no_trace_of_it_is_cached() -> None:
    def twice(x):
        return x * 5

    notes = [inspect(twice, X, stage="trace").summary()["stages"][0]["note"] for _ in range(2)]
    assert notes == [None, None]


def test_an_executable_from_the_persistent_cache_says_so(tmp_path) -> None:
    options = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in options}
    try:
        for name, value in options.items():
            jax.config.update(name, value)
        from jax.experimental.compilation_cache import compilation_cache

        compilation_cache.reset_cache()
        first = inspect(lambda x: jnp.cos(x) * 7, X)
        second = inspect(lambda x: jnp.cos(x) * 7, X)
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    assert first.summary()["stages"][-1]["note"] is None
    note = second.summary()["stages"][-1]["note"]
    assert note == stage_wording.note(Stage("compile", hit=CacheHit(Cache.PERSISTENT)))


def test_figures_are_those_of_cost_and_memory() -> None:
    inspection = inspect(loss, W, X)
    facts = {fact["label"]: fact["text"] for fact in inspection.summary()["facts"]}
    assert facts["FLOPs"] == f"{inspection.cost.work.total_flops / 1e6:.3g} MFLOP"
    assert facts["bytes moved"] == f"{inspection.cost.work.total_bytes / 1e3:.3g} kB"
    assert facts["memory needed"] == f"{inspection.memory.space().reserved / 1e3:.3g} kB"


def test_xla_analyses_the_executable_once_however_many_views_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(loss, W, X)
    asked = []
    original = jax.stages.Compiled.memory_analysis
    monkeypatch.setattr(jax.stages.Compiled, "memory_analysis", lambda self: asked.append(1) or original(self))
    assert inspection.summary()["facts"] == inspection.summary()["facts"]
    assert asked == [1]


def test_a_figure_that_jax_does_not_give_is_unknown_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(loss, W, X)
    monkeypatch.setattr(jax.stages.Compiled, "memory_analysis", lambda self: None)
    [fact] = [fact for fact in inspection.summary()["facts"] if not fact["known"]]
    assert (fact["label"], fact["text"]) == ("memory needed", "unknown")
    assert fact["reason"] == "this backend gives no memory statistics"


def test_counts_are_those_of_a_hand_count() -> None:
    def two(x):
        return jnp.sin(x) * 2

    counts = [stage["count"] for stage in inspect(two, X).summary()["stages"]]
    assert counts[0] == "2 eqns"
    assert counts[1] == "3 ops"  # sine, broadcast of the 2, multiply


def test_the_signature_names_arguments() -> None:
    assert inspect(loss, W, X).summary()["signature"] == "loss(w: f32[128,512], x: f32[8,128]) -> f32[]"
    static = inspect(jax.jit(lambda x, n: x * n, static_argnums=1), X, 3)
    assert "(x: f32[8,128], n=3) -> " in static.summary()["signature"]


def test_two_threads_print_jaxprs_at_once() -> None:
    inspections = [inspect(loss, W, X, stage="trace") for _ in range(8)]
    texts: list[str] = []
    threads = [threading.Thread(target=lambda i=i: texts.append(i.documents["jaxpr"].text)) for i in inspections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(texts)) == 1


def test_public_names() -> None:
    names = {
        "Inspection",
        "MosaicSpec",
        "Timeline",
        "Timing",
        "inspect",
        "load",
        "measure",
        "measure_ceilings",
        "profile",
    }
    names |= {"UnexpectedCompile", "compile_cache", "compiles", "expect_compiles", "find_shardings"}
    names |= {"ProcessesDisagree", "preflight"}
    assert set(jaxstage_ext.__all__) == names <= set(dir(jaxstage_ext))
    assert all(getattr(jaxstage_ext, name).__doc__ for name in names)
