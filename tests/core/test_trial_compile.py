"""Compiles that end the process they happen in: the kernel lives, and says why it did not compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counted_calls import calls_of
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

import jaxstage_ext
from jaxstage_ext.core.safety import crash_risk as trial_compile
from jaxstage_ext.core.safety.crash_risk import CrashRisk, crash_risk
from jaxstage_ext.core.targets import cross_compile

X = jax.ShapeDtypeStruct((8, 8), jnp.float32)


def of_axis(name: str) -> Any:
    sharding = NamedSharding(
        Mesh(np.array(jax.devices()[:2]), (name,), axis_types=(AxisType.Auto,)), PartitionSpec(name)
    )
    return lambda x: jax.lax.with_sharding_constraint(x * 2, sharding)


def calling(target: str) -> Any:
    return lambda x: jax.ffi.ffi_call(target, X)(x)


def loops(depth: int) -> Any:
    function = jnp.sin
    for _ in range(depth):
        function = (lambda inner: lambda x: jax.lax.fori_loop(0, 3, lambda i, carry: inner(carry), x))(function)
    return function


def step(x: Any) -> Any:
    """What an ordinary training step has, library calls included."""
    y = jax.nn.softmax(jnp.sort(jnp.linalg.cholesky(x @ x.T) + jax.random.normal(jax.random.key(0), x.shape)))
    y = jax.lax.scan(lambda carry, row: (carry + row, carry), y[0], y)[1]
    return jax.grad(lambda y: jnp.sum(jax.lax.top_k(y, 2)[0] + jnp.fft.fft(y).real[:, :2]))(y), jnp.linalg.svd(y)[1]


def risk(fn: Any, x: Any = X, **options: Any) -> CrashRisk | None:
    traced = jax.jit(fn).trace(x)
    return crash_risk(traced, traced.lower(), options)


@pytest.mark.parametrize(
    ("fn", "x", "options", "expected"),
    [
        (step, X, {}, None),
        (step, X, {"xla_backend_optimization_level": 2}, None),
        (step, X, {"xla_cpu_enable_fast_math": True}, None),
        (loops(12), X, {}, None),
        (of_axis("data_1"), X, {}, None),
        (step, X, {"xla_disable_hlo_passes": "copy-insertion"}, CrashRisk.OPTIONS),
        (step, X, {"xla_unsupported_crash_on_hlo_pass_noop_change": True}, CrashRisk.OPTIONS),
        (step, X, {"xla_cpu_parallel_codegen_split_count": -1}, CrashRisk.OPTIONS),
        (of_axis("größe"), X, {}, CrashRisk.AXIS_NAME),
        (of_axis("a\\b"), X, {}, CrashRisk.AXIS_NAME),
        (of_axis("a\nb"), X, {}, CrashRisk.AXIS_NAME),
        (calling("TopK"), X, {}, CrashRisk.CUSTOM_CALL),
        (loops(30), X, {}, CrashRisk.DEPTH),
        (lambda x: x + 1, jax.ShapeDtypeStruct((2**16, 2**16), jnp.float32), {}, CrashRisk.SIZE),
        (lambda x: jnp.sum(x[:, None] * x[None, :]), jax.ShapeDtypeStruct((2**17,), jnp.float32), {}, CrashRisk.SIZE),
    ],
    ids=lambda value: str(getattr(value, "name", ""))[:20],
)
def test_what_is_tried_in_a_worker_first(fn: Any, x: Any, options: dict[str, Any], expected: CrashRisk | None) -> None:
    assert risk(fn, x, **options) is expected


def test_an_ordinary_call_asks_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = calls_of(monkeypatch, cross_compile, "compile")
    jaxstage_ext.inspect(step, X)
    jaxstage_ext.inspect(of_axis("data"), jnp.ones((8, 8)), compiler_options={"xla_backend_optimization_level": 1})
    assert asked == []


def test_what_xla_itself_refuses_is_its_own_error() -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match="no_such_function"):
        jaxstage_ext.inspect(calling("no_such_function"), X)


def test_the_kernel_s_devices_are_where_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(cross_compile, "compile", lambda *arguments: tried.append(arguments[2]))
    jaxstage_ext.inspect(of_axis("größe") if jax.__version__ > "0.12" else of_axis('"'), jnp.ones((8, 8)))
    assert [(str(target), target.devices) for target in tried] == [("local", jax.device_count())]


DEADLY = """
import json, sys
sys.path[:0] = ["tests/core", "tests/helpers"]
import jax, jax.numpy as jnp
import jaxstage_ext
from test_trial_compile import X, calling, of_axis, step
from jaxstage_ext.worker.request_errors import WorkerDied
calls = {
    "custom call": (calling("TopK"), X, {}),
    "no passes": (step, X, {"xla_enable_hlo_passes_only": "dce"}),
    "backslash": (of_axis("a" + chr(92) + "b"), jnp.ones((8, 8)), {}),
    "umlaut": (of_axis("ä"), jnp.ones((8, 8)), {}),
    "product of sizes": (lambda x: x @ x, jax.ShapeDtypeStruct((2**31, 2**31), jnp.float32), {}),
}
ends = {}
for name, (fn, x, options) in calls.items():
    try:
        jaxstage_ext.inspect(fn, x, compiler_options=options)
        ends[name] = ["compiled", ""]
    except WorkerDied as died:
        ends[name] = [died.cause, died.summary]
    except Exception as error:
        ends[name] = [type(error).__name__, str(error)]
print(json.dumps(ends))
"""


def test_the_kernel_survives_what_xla_does_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEADLY],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=Path(__file__).parents[2],
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ends = json.loads(done.stdout.splitlines()[-1])
    for name in ("custom call", "no passes"):
        cause, summary = ends[name]
        assert cause == "signal"
        assert "was tried first because it" in summary
        assert "this kernel did not compile it" in summary
    old = jax.__version__.startswith("0.10")
    assert [ends[name][0] for name in ("backslash", "umlaut")] == ["signal" if old else "compiled"] * 2
    assert ends["product of sizes"][0] in ("signal", "RuntimeError")


def test_a_worker_that_cannot_be_started_does_not_keep_the_kernel_from_compiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from jaxstage_ext.worker.request_errors import WorkerDied

    def refuse(*arguments: Any) -> None:
        raise WorkerDied("the compile worker cannot be started", "start")

    monkeypatch.setattr(trial_compile.cross_compile, "compile", refuse)
    made = jaxstage_ext.inspect(lambda x: x + 1, X, compiler_options={"xla_cpu_prefer_vector_width": 128})
    assert made.error is None
