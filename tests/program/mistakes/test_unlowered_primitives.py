"""Operations that JAX lowers for a CPU alone, for a target that has none; the advice is followed, with JAX alone."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.program.mistakes import explained_error

pytestmark = pytest.mark.usefixtures("kept_answers")

X = jnp.eye(8) * 2
CALLS = {
    "eig": lambda x: jnp.linalg.eigvals(x),
    "schur": lambda x: jax.scipy.linalg.sqrtm(x),
    "hessenberg": lambda x: jax.lax.linalg.hessenberg(x)[0],
}


def in_a_branch(name: str) -> Any:
    def chosen(x: Any) -> Any:
        y = jnp.sin(x)
        return jax.lax.cond(y.sum() > 0, lambda y: abs(CALLS[name](y)).sum(), lambda y: y.sum(), y)

    return chosen


@pytest.mark.parametrize("target", ["v5e:2x2", "h100"])
@pytest.mark.parametrize("name", CALLS)
def test_what_only_other_platforms_have_is_named_with_its_line(name: str, target: str) -> None:
    needs(target)
    chosen = in_a_branch(name)
    with pytest.raises(Exception, match=r".") as raised:
        inspect(jax.jit(chosen), X, target=target)
    said = explained_error.error_explanation(raised.value.inspection.program)  # type: ignore[attr-defined]
    line = CALLS[name].__code__.co_firstlineno
    assert f"{name} (" in said and f"test_unlowered_primitives.py:{line})" in said and "cpu:N" in said
    if (name, target) == ("eig", "h100"):
        assert "cusolver" in said and "not in this machine" in said
    else:
        assert "device_put(x, jax.devices('cpu')[0])" in said
    assert inspect(jax.jit(chosen), X, target="cpu:1").error is None


@pytest.mark.parametrize("name", CALLS)
def test_on_the_cpu_it_runs(name: str) -> None:
    assert np.isfinite(np.asarray(CALLS[name](jax.device_put(X, jax.devices("cpu")[0])))).all()
