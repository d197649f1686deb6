"""What JAX has no more is told with what stands for it today, and that works."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from IPython.core.error import UsageError
from magic_shell import fresh_shell

from jaxstage_ext import inspect
from jaxstage_ext.program.mistakes import explained_error

X = np.ones((2, 4), np.float32)


def told(fn: Any, *args: Any) -> str:
    with pytest.raises(Exception, match=r".") as raised:
        inspect(fn, *args)
    return explained_error.error_explanation(raised.value.inspection.program)  # type: ignore[attr-defined]


def test_a_pmap_inside_a_pmap() -> None:
    said = told(jax.pmap(lambda a: jax.pmap(lambda b: b * 2)(a)), X)
    assert said.startswith("A pmap inside a pmap is gone from JAX: use jax.vmap for the inner one")
    inspect(jax.pmap(lambda a: jax.vmap(lambda b: b * 2)(a)), X)
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 2), ("outer", "inner"), devices=jax.devices()[:4], axis_types=auto)
    spec = jax.P("outer", "inner")
    inspect(jax.jit(jax.shard_map(lambda b: b * 2, mesh=mesh, in_specs=spec, out_specs=spec)), X)


def totals(a: Any) -> Any:
    return {"sum": a.sum(), "own": a}


def test_a_result_that_is_not_shown_to_be_replicated() -> None:
    """`check_vma`, which took the place of the typecheck of resources."""
    mesh = jax.make_mesh((2,), ("d",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    specs = {"sum": jax.P(), "own": jax.P("d")}
    given = jax.device_put(jnp.ones(8), jax.NamedSharding(mesh, jax.P("d")))
    said = told(jax.shard_map(totals, mesh=mesh, in_specs=jax.P("d"), out_specs=specs), given)
    line = totals.__code__.co_firstlineno
    assert said.startswith("result['sum'] of totals (") and f":{line}) has out_specs P(), and" in said
    assert "jax.lax.psum or jax.lax.pmean over 'd'" in said

    def same(a: Any) -> Any:
        return {"sum": jax.lax.psum(a.sum(), "d"), "own": a}

    inspect(jax.jit(jax.shard_map(same, mesh=mesh, in_specs=jax.P("d"), out_specs=specs)), given)


@pytest.mark.parametrize("option", ["--in-spec", "--out-spec"])
def test_auto_shardings(option: str) -> None:
    with fresh_shell() as shell:
        seen = shell.run(f"%compile -q -t cpu:2 --mesh d=2 {option} AUTO loss(w, x)")
        assert isinstance(seen.error, UsageError) and "AUTO is gone from JAX; leave" in str(seen.error)
        assert shell.run("%compile -q -o ins -t cpu:2 --mesh d=2 --in-spec None loss(w, x)").ok
        assert "chosen by" in str(shell["ins"].shardings)
        assert set(shell["ins"].shardings.table["chosen by"]) == {"compiler"}


def test_targets_that_are_not_compiled_are_not_compared() -> None:
    with fresh_shell() as shell:
        lowered = shell.run("%lower -t cpu:2 -t local loss(w, x)")
        assert "fits" not in lowered.text and lowered.text.count("lower ") >= 2
        assert "fits" in shell.run("%compile -t cpu:2 -t local loss(w, x)").text
