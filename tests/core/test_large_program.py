"""A program that is too large for the kernel is compiled in a worker, whose memory is limited; it says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.api.inspect import inspect, run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.safety import crash_risk
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.worker_requests import Limits
from jaxstage_ext.report import kernel_settings

X = np.arange(4, dtype=np.float32)


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    kernel_settings.change(large_program=5)
    yield
    kernel_settings.change(large_program=kernel_settings.KernelSettings.large_program)


def of_size(operations: int) -> Any:
    def chain(x: Any) -> Any:
        for _ in range(operations):
            x = jnp.sin(x)
        return x

    return chain


def of_growing_fusions(layers: int) -> Any:
    """What takes XLA several times as long as the memory of a worker is looked at."""

    def fn(x: Any) -> Any:
        for _ in range(layers):
            x = jnp.sin(x * 1.1) + jnp.cos(x)
        return x

    return fn


def of_all_kinds(x: Any) -> Any:
    """Reductions with and without a body, branches, loops, calls, sorting, random bits."""
    y = jax.lax.cond(jnp.sum(x) > 0, jnp.sin, jnp.cos, x) + jnp.argmax(x) + jax.nn.gelu(x)
    y = jax.lax.scan(lambda carry, row: (carry + row, carry), y[0], y)[1]
    return jnp.sort(y + jax.random.normal(jax.random.key(0), y.shape)), jnp.linalg.norm(x), jax.lax.erf_inv(x)


@pytest.mark.parametrize("fn", [of_all_kinds, jax.grad(lambda x: of_all_kinds(x)[1]), of_size(7)])
def test_what_is_counted_is_what_the_panel_shows(fn: Any) -> None:
    lowered = inspect(fn, X, stage="lower")
    shown = lowered.summary()["stages"][1]["count"]
    assert shown == f"{lowered_modules.count_operations(lowered.lowered):,} ops"


def test_only_a_larger_program_goes_to_a_worker_and_all_of_it_is_shown() -> None:
    small, large = inspect(of_size(5), X), inspect(of_size(6), X)
    assert isinstance(small.compiled, jax.stages.Compiled)
    assert isinstance(large.compiled, Executable)
    assert not any("worker" in note for note in small.summary()["notes"])
    [note] = [note for note in large.summary()["notes"] if "worker" in note]
    assert "its 6 StableHLO operations are more than the 5 that this process compiles" in note
    assert "memory limit of" in note
    assert "--no-isolate (inspect(..., isolate=False))" in note
    assert "6 StableHLO operations" in " ".join(str(large).split())
    here = inspect(of_size(6), X, isolate=False)
    np.testing.assert_allclose(here.execute(), jax.jit(of_size(6))(X), rtol=1e-6)
    assert here.documents["hlo"].text == large.documents["hlo"].text
    assert here.summary()["facts"][0] == large.summary()["facts"][0]


def test_execute_says_how_to_get_the_executable() -> None:
    with pytest.raises(ValueError, match=r"chain cannot be run here: .*6 StableHLO operations.*--no-isolate"):
        inspect(of_size(6), X).execute()


def test_a_sharded_program_and_a_lowered_object() -> None:
    mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    x = jax.device_put(X, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data")))
    sharded = [inspect(lambda x: of_size(6)(x).sum(), x, isolate=isolate) for isolate in (None, False)]
    assert isinstance(sharded[0].compiled, Executable)
    assert "all-reduce" in sharded[0].documents["hlo"].text
    assert sharded[0].documents["hlo"].text == sharded[1].documents["hlo"].text
    assert isinstance(inspect(jax.jit(of_size(6)).lower(X)).compiled, Executable)


def test_what_the_worker_does_not_survive_is_told_with_the_reason_and_the_way_out() -> None:
    made = run(Call(jax.grad(of_growing_fusions(400)), (1.0,)), limits=Limits(memory=1000))
    assert [stage["state"] for stage in made.summary()["stages"]] == ["done", "done", "failed"]
    message = made.summary()["error"]["message"]  # type: ignore[index]
    assert "over the limit of" in message
    assert "--memory SIZE gives it more. It was compiled in a worker because its " in message
    assert "--no-isolate" in message


def test_isolate_puts_any_program_into_a_worker_and_takes_only_a_bool() -> None:
    assert isinstance(inspect(of_size(1), X, isolate=True).compiled, Executable)
    with pytest.raises(TypeError, match="isolate must be True, False or None, not 1"):
        inspect(of_size(1), X, isolate=1)  # type: ignore[arg-type]


def test_a_kernel_with_an_accelerator_compiles_in_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = inspect(of_size(6), X, stage="lower").program.staged
    assert crash_risk.large(staged) is not None
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert crash_risk.large(staged) is None
