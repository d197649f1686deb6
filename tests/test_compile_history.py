"""`compiles()` and `expect_compiles()` outside a notebook, as a test suite uses them."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext import UnexpectedCompile, expect_compiles
from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.events import listening


@pytest.fixture(autouse=True)
def not_listening() -> Iterator[None]:
    """No extension is loaded."""
    listening.stop()
    yield
    listening.stop()


def made_step() -> jax.stages.Wrapped:
    @jax.jit
    def step(x: jax.Array, n: int = 3) -> jax.Array:
        return x * n

    return step


X, LONGER = jnp.ones(8), jnp.ones(9)
INTEGERS = jnp.ones(8, jnp.int32)


def test_a_cached_call_passes_and_a_recompile_is_explained() -> None:
    step = made_step()
    with expect_compiles(at_most=1):
        step(X)
    with expect_compiles():
        step(X)
    with pytest.raises(UnexpectedCompile) as failure, expect_compiles(at_most=0):
        step(INTEGERS)
    text = str(failure.value)
    assert isinstance(failure.value, AssertionError)
    assert text.startswith("1 compile, expected at most 0\n")
    assert "step(i32[8]) at " in text
    assert "test_compile_history.py:" in text
    assert "x is int32, was float32" in text
    assert "→ " in text
    (record,) = failure.value.history.records
    assert failure.value.history.verdict(record).cause is Cause.DTYPE


def test_a_first_call_says_to_warm_up() -> None:
    def called_here_alone(x: jax.Array) -> jax.Array:
        return x + 1

    with pytest.raises(UnexpectedCompile) as failure, expect_compiles():
        jax.jit(called_here_alone)(X)
    assert "Call it once before the block" in str(failure.value)
    assert "jaxstage_ext.compiles()" in str(failure.value)


def test_the_log_is_off_again_after_the_block_and_stays_on_where_it_was() -> None:
    with expect_compiles():
        assert listening.is_on()
        with expect_compiles():
            pass
        assert listening.is_on()
    assert not listening.is_on()
    jaxstage_ext.compiles()
    with expect_compiles():
        pass
    assert listening.is_on()


def test_nested_blocks_each_count_their_own_and_those_inside() -> None:
    step = made_step()
    with expect_compiles(at_most=2) as outer:
        step(X)
        with expect_compiles(at_most=1) as inner:
            step(LONGER)
        assert len(inner.compiles()) == 1
    assert len(outer.compiles()) == 2


def test_an_outer_block_fails_for_what_an_inner_one_allows() -> None:
    step = made_step()

    @expect_compiles(at_most=1)
    def outer() -> None:
        step(jnp.ones(10))
        with expect_compiles(at_most=1):
            step(jnp.ones(11))

    with pytest.raises(UnexpectedCompile, match="2 compiles, expected at most 1"):
        outer()


def test_an_exception_of_the_block_wins() -> None:
    step = made_step()

    @expect_compiles()
    def fails() -> None:
        step(X)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert not listening.is_on()


def test_eager_operations_count_only_where_asked() -> None:
    with expect_compiles():
        jnp.ones(12345) + 1
    with pytest.raises(UnexpectedCompile), expect_compiles(eager=True):
        jnp.ones(12346) + 1


def test_what_only_traces_or_lowers_is_not_a_compile() -> None:
    step = made_step()
    with expect_compiles() as watch:
        jax.eval_shape(step, X)
        step.lower(X)
    assert len(watch.records)


def test_a_compile_ahead_of_time_is_one() -> None:
    step = made_step()
    with pytest.raises(UnexpectedCompile), expect_compiles():
        step.lower(X).compile()


def test_compiles_of_other_threads_count() -> None:
    step = made_step()

    @expect_compiles()
    def in_a_thread() -> None:
        thread = threading.Thread(target=lambda: step(X))
        thread.start()
        thread.join()

    with pytest.raises(UnexpectedCompile, match="1 compile"):
        in_a_thread()


def test_blocks_of_two_threads_overlap() -> None:
    entered, left = threading.Event(), threading.Event()
    step, seen = made_step(), []

    def first() -> None:
        with expect_compiles():
            entered.set()
            left.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(60)
    with expect_compiles(at_most=1) as watch:
        left.set()
        thread.join()
        step(X)
        seen = list(watch.compiles().records)
    assert len(seen) == 1
    assert not listening.is_on()


def test_it_decorates_a_test() -> None:
    step = made_step()

    @expect_compiles(at_most=0)
    def test() -> None:
        step(X)

    with pytest.raises(UnexpectedCompile):
        test()
    test()


def test_many_compiles_are_cut_short() -> None:
    step = made_step()

    @expect_compiles()
    def many() -> None:
        for size in range(20, 32):
            step(jnp.ones(size))

    with pytest.raises(UnexpectedCompile, match="and 2 more compiles"):
        many()


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "0", None])
def test_a_wrong_number_is_an_error_that_quotes_it(wrong: object) -> None:
    with pytest.raises(ValueError, match="not " + repr(wrong)), expect_compiles(at_most=wrong):  # type: ignore[arg-type]
        pass


def test_compiles_starts_the_log_and_has_what_follows() -> None:
    before = len(jaxstage_ext.compiles())
    step = made_step()
    step(X)
    seen = jaxstage_ext.compiles()
    assert len(seen) > before
    assert list(seen.only(function="step").table()["function"])[-1] == "step"
    assert "step(f32[8])" in repr(seen)
    assert "step" in seen._repr_html_()


def test_it_works_before_jax_is_imported_and_without_a_shell() -> None:
    code = """
import sys, jaxstage_ext
assert "jax" not in sys.modules
try:
    with jaxstage_ext.expect_compiles():
        import jax, jax.numpy as jnp
        jax.jit(lambda x: x + 1)(jnp.ones(3))
except jaxstage_ext.UnexpectedCompile as error:
    print(error)
assert "IPython" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "1 compile, expected at most 0" in done.stdout
    assert "<lambda>(f32[3])" in done.stdout
