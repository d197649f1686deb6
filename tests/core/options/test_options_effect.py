"""What compile options do: to the module, the executable, and what is shown and saved."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.core.options import flag_values

X = jnp.ones((16, 16))


UNFUSED = {"xla_disable_hlo_passes": "fusion"}


ALONE = "%wrapped_tanh"


def f(a: Any, b: Any) -> Any:
    return jnp.sum(jnp.tanh(a @ b) * 2 + a)


def hlo(**given: Any) -> str:
    return jaxstage_ext.inspect(f, X, X, compiler_options=given).documents["hlo"].text


def test_an_option_changes_the_hlo() -> None:
    assert ALONE not in hlo()
    assert ALONE in hlo(**UNFUSED)
    assert ALONE not in hlo()
    assert ALONE in hlo(disable_hlo_passes=["algsimp", "fusion"])


def test_an_option_changes_the_executable() -> None:
    def size(level: int) -> int:
        asked = {"backend_optimization_level": level}
        compiled = jaxstage_ext.inspect(f, X, X, compiler_options=asked).compiled
        return len(compiled.runtime_executable().serialize())

    assert size(0) < 0.8 * size(3)


def test_the_executable_runs() -> None:
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options=UNFUSED)
    np.testing.assert_allclose(inspection.execute(), f(X, X), rtol=1e-5)


@pytest.mark.parametrize("library", ["equinox", "nnx", "pmap", "jit"])
def test_wrappers_pass_options_through(library: str) -> None:
    def jitted() -> Any:
        if library == "equinox":
            return pytest.importorskip("equinox").filter_jit(f)
        if library == "nnx":
            return pytest.importorskip("flax.nnx").jit(f)
        return jax.jit(f) if library == "jit" else jax.pmap(f)

    args = (X[None], X[None]) if library == "pmap" else (X, X)
    plain = jaxstage_ext.inspect(jitted(), *args).documents["hlo"].text
    unfused = jaxstage_ext.inspect(jitted(), *args, compiler_options=UNFUSED).documents["hlo"].text
    assert ALONE not in plain
    assert ALONE in unfused


def test_options_that_a_function_was_jitted_with_are_shown_too() -> None:
    jitted = jax.jit(f, compiler_options=UNFUSED | {"xla_gpu_autotune_level": 2})
    inspection = jaxstage_ext.inspect(jitted, X, X, compiler_options={"xla_disable_hlo_passes": "algsimp"})
    assert inspection.summary()["options"] == {"xla_disable_hlo_passes": "algsimp", "xla_gpu_autotune_level": 2}
    assert len(inspection.summary()["notes"]) == 1
    assert ALONE not in inspection.documents["hlo"].text
    assert ALONE in jaxstage_ext.inspect(jitted, X, X).documents["hlo"].text


class Stubborn:
    """Some library's jit, whose compile takes nothing."""

    def __call__(self, *args: Any) -> Any:
        return f(*args)

    def lower(self, *args: Any) -> Any:
        class Lowered:
            lowered = jax.jit(f).lower(*args)

            def compile(self) -> Any:
                return self.lowered.compile()

        return Lowered()


def test_a_wrapper_that_takes_no_options_says_so() -> None:
    assert jaxstage_ext.inspect(Stubborn(), X, X).compiled is not None
    with pytest.raises(TypeError, match="Lowered takes no compiler_options, so xla_disable_hlo_passes cannot be set"):
        jaxstage_ext.inspect(Stubborn(), X, X, compiler_options=UNFUSED)


# ---- inspect() -------------------------------------------------------------------------------------------------------


def test_inspect_checks_names_and_stages() -> None:
    with pytest.raises(ValueError, match="did you mean xla_cpu_enable_fast_math"):
        jaxstage_ext.inspect(f, X, X, compiler_options={"cpu_enable_fast_mth": True})
    with pytest.raises(ValueError, match="stage='lower' stops before it"):
        jaxstage_ext.inspect(f, X, X, stage="lower", compiler_options=UNFUSED)
    assert jaxstage_ext.inspect(f, X, X, stage="lower", compiler_options={}).compiled is None


def test_options_are_kept_apart_from_the_functions_own_arguments() -> None:
    inspection = jaxstage_ext.inspect(f, X, b=X, compiler_options=UNFUSED)
    assert "compiler_options" not in inspection.summary()["signature"]
    assert dict(inspection.call.kwargs).keys() == {"b"}


# ---- shown -----------------------------------------------------------------------------------------------------------


def test_options_are_saved_and_shown_in_every_form() -> None:
    given = {"cpu_enable_fast_math": False, "backend_optimization_level": 1, "dump_hlo_pass_re": "<script>x</script>"}
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options=given)
    saved = jaxstage_ext.Inspection.from_json(inspection.to_json())
    for one in (inspection, saved):
        assert one.summary()["options"] == {f"xla_{name}": value for name, value in given.items()}
        forms = one._repr_mimebundle_()
        assert "options xla_cpu_enable_fast_math=False · xla_backend_optimization_level=1" in forms["text/plain"]
        assert "xla_backend_optimization_level=1</code>" in forms["text/html"]
        assert "xla_dump_hlo_pass_re=&lt;script&gt;x" in forms["text/html"]


def test_without_options_nothing_is_shown() -> None:
    inspection = jaxstage_ext.inspect(f, X, X)
    assert inspection.summary()["options"] == {}
    forms = inspection._repr_mimebundle_()
    assert "options xla" not in forms["text/plain"]
    assert "options <code" not in forms["text/html"]


def test_an_inspection_saved_before_there_were_options_opens() -> None:
    saved = json.loads(jaxstage_ext.inspect(f, X, X).to_json())
    del saved["summary"]["options"]
    opened = jaxstage_ext.Inspection.from_json(json.dumps(saved))
    assert "options xla" not in repr(opened)


def test_large_numbers_stay_exact_in_the_browser() -> None:
    assert flag_values.shown({"a": 2**60 + 1, "b": 3, "c": float("inf"), "d": b"12345" * 300}) == {
        "a": "1152921504606846977",
        "b": 3,
        "c": "inf",
        "d": "1,500 bytes",
    }


# ---- magics ----------------------------------------------------------------------------------------------------------


def test_the_worker_compiles_with_them_too() -> None:
    def two(x):
        return jnp.sin(x) * 2

    plain = jaxstage_ext.inspect(two, jnp.ones(8), target="cpu:2")
    without = jaxstage_ext.inspect(
        two, jnp.ones(8), target="cpu:2", compiler_options={"xla_disable_hlo_passes": "fusion"}
    )
    assert " fusion(" in plain.documents["hlo"].text
    assert without.documents["hlo"].text.count(" fusion(") != plain.documents["hlo"].text.count(" fusion(")
    assert without.summary()["options"] == {"xla_disable_hlo_passes": "fusion"}
    assert without.summary()["target"].startswith("cpu:2")
