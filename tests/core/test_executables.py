"""A second look at the same program: JAX is given the executable of the first, and shows and runs the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning

from jaxstage_ext import inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core import executables
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import compile_watch, replaced_function
from jaxstage_ext.store import cache

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def looks(make: Any, *args: Any, **options: Any) -> list[Inspection]:
    """The same lines inspected twice, each time as a new function, as a cell that runs again makes one."""
    return [inspect(make(), *args, **options) for _ in range(2)]


def again(inspection: Inspection) -> bool:
    note = inspection.summary()["stages"][-1]["note"]
    return note is not None and note.startswith("cached; the first compile took ")


def same(first: Inspection, second: Inspection) -> bool:
    return first.compiled.runtime_executable() is second.compiled.runtime_executable()


def plain() -> Any:
    def f(x):
        return {"sum": jnp.sum(x @ x.T), "x": x * 2}

    return f


def test_the_second_look_runs_what_the_first_compiled_and_gives_the_same() -> None:
    first, second = looks(plain, X)
    assert (again(first), again(second)) == (False, True)
    assert same(first, second)
    expected = plain()(X)
    for inspection in (first, second):
        value = inspection.compiled(X)
        assert value["sum"] == pytest.approx(float(expected["sum"]))
        np.testing.assert_array_equal(value["x"], expected["x"])


def test_what_is_shown_is_the_same_to_the_letter() -> None:
    first, second = looks(plain, X)
    for kind in first.documents:
        one, other = first.documents[kind], second.documents[kind]
        assert one.text == other.text
        for name in one.COLUMNS:
            np.testing.assert_equal(getattr(one, name), getattr(other, name))
        spans = [[document.source_of(line + 1) for line in range(len(document))] for document in (one, other)]
        assert spans[0] == spans[1]
    assert first.summary()["facts"] == second.summary()["facts"]
    assert first.summary()["coverage"] == second.summary()["coverage"]


def test_documents_asked_for_in_another_order_link_to_the_same_lines() -> None:
    first, second = looks(plain, X)
    told: dict[str, list[Any]] = {}
    for kind in reversed(list(first.documents)):
        document = first.documents[kind]
        told[kind] = [document.source_of(n + 1) for n in range(len(document))]
    for kind in first.documents:
        document = second.documents[kind]
        assert [document.source_of(n + 1) for n in range(len(document))] == told[kind]
        numbered = document.frame[document.frame >= 0].tolist()
        assert [second.frames.span(frame) for frame in numbered] == [document.frames.span(frame) for frame in numbered]
    assert len(second.frames) == len(first.frames)


def first_look() -> Inspection:
    return inspect(plain(), X)


def donating() -> Any:
    return jax.jit(plain(), donate_argnums=0)


OTHERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "shape": (plain, X[:2], {}),
    "type": (plain, X.astype(np.float16), {}),
    "option": (plain, X, {"xla_backend_optimization_level": 0}),
    "option of another value": (plain, X, {"xla_cpu_enable_fast_math": True}),
    "donation": (donating, X, {}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_program_is_compiled(what: str) -> None:
    plainly = (plain, X, {"xla_cpu_enable_fast_math": False} if "value" in what else {})
    anew = []
    for make, argument, options in (plainly, plainly, OTHERS[what], OTHERS[what]):
        anew.append(not again(inspect(make(), argument, compiler_options=options)))
    assert anew == [True, False, True, False]


def test_the_same_from_another_line_is_another_program() -> None:
    assert not again(inspect(plain(), X))
    assert not again(inspect(plain(), X))


def on(device: Any) -> Any:
    sharding = jax.sharding.SingleDeviceSharding(device)

    def f(x):
        return x * 2

    return jax.jit(f, in_shardings=sharding, out_shardings=sharding)


def test_another_device_is_compiled() -> None:
    first, second, third = (inspect(on(jax.devices()[n]), X) for n in (0, 1, 1))
    assert [again(i) for i in (first, second, third)] == [False, False, True]
    assert third.compiled(X).devices() == {jax.devices()[1]}


def test_another_tree_with_the_same_module() -> None:
    def made(tree: Any) -> Any:
        def f(x):
            return tree(x + 1, x * 2)

        return f

    pair, listed = (inspect(made(tree), X) for tree in (lambda a, b: (a, b), lambda a, b: [a, b]))
    assert again(listed) and same(pair, listed)
    assert isinstance(pair.compiled(X), tuple) and isinstance(listed.compiled(X), list)
    np.testing.assert_array_equal(listed.compiled(X)[1], X * 2)


def test_donation_stays() -> None:
    def make() -> Any:
        def f(x):
            return x + 1

        return jax.jit(f, donate_argnums=0)

    first, second = looks(make, X)
    assert again(second)
    for inspection in (first, second):
        given = jnp.array(X)
        inspection.compiled(given)
        assert given.is_deleted()


def test_static_arguments_are_part_of_the_program() -> None:
    def make() -> Any:
        def f(x, n):
            return x * n

        return jax.jit(f, static_argnums=1)

    two, three, two_again = (inspect(make(), X, n) for n in (2, 3, 2))
    assert [again(i) for i in (two, three, two_again)] == [False, False, True]
    np.testing.assert_array_equal(three.execute(), X * 3)
    np.testing.assert_array_equal(two_again.execute(), X * 2)


def test_what_a_function_closes_over_is_part_of_it() -> None:
    def made(value: Any) -> Any:
        def f(x):
            return x + value

        return f

    first, second, third = (inspect(made(np.full((3, 4), n, np.float32)), X) for n in (1, 2, 1))
    assert [again(i) for i in (first, second, third)] == [False, False, True]
    np.testing.assert_array_equal(second.compiled(X), X + 2)


CALLS: list[str] = []


def calls_back(kind: str, tag: str) -> Any:
    def told(x: Any) -> Any:
        CALLS.append(tag)
        return np.asarray(x)

    def f(x):
        if kind == "print":
            jax.debug.callback(told, x)
            return x
        if kind == "pure":
            return jax.pure_callback(told, x, x)
        return io_callback(told, x, x, ordered=True)

    return f


@pytest.mark.parametrize("kind", ["print", "pure", "io"])
def test_callbacks_are_called_by_their_own_program(kind: str) -> None:
    first, second = (inspect(calls_back(kind, tag), X) for tag in ("first", "second"))
    assert not again(second)
    for tag, inspection in (("first", first), ("second", second)):
        CALLS.clear()
        jax.block_until_ready(inspection.compiled(X))
        jax.effects_barrier()
        assert [tag] == CALLS


def test_custom_partitioning_holds_python_and_is_compiled_anew() -> None:
    def make() -> Any:
        @custom_partitioning
        def f(x):
            return x + 1

        f.def_partition(
            partition=lambda mesh, args, result: (mesh, lambda x: x + 1, result.sharding, (args[0].sharding,)),
            infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
            sharding_rule="i j -> i j",
        )
        return lambda x: f(x)

    mesh = jax.make_mesh((2,), ("x",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    first, second = (inspect(jax.jit(make(), in_shardings=split), X[:2]) for _ in range(2))
    assert not again(second)
    np.testing.assert_array_equal(second.compiled(X[:2]), X[:2] + 1)
    assert not same(first, second)


def test_dumps_are_written_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        inspection = inspect(plain(), X, compiler_options={"xla_dump_to": str(tmp_path)})
        assert not again(inspection)
        dumped = list(tmp_path.iterdir())
        assert dumped
        for path in dumped:
            path.unlink()


def test_it_can_be_turned_off_and_forgotten() -> None:
    before = (cache.clear, bool, lambda: cache.enable(False), lambda: cache.enable(True), cache.clear, bool)
    found = []
    for do in before:
        do()
        found.append(again(first_look()))
    assert found == [False, True, False, True, False, True]


def test_old_ones_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executables._made, "most", 2)
    functions = [lambda x: x + 1, lambda x: x + 2, lambda x: x + 3]
    for function in functions:
        inspect(function, X)
    assert len(executables._made) == 2
    assert executables._made.size > 0


def test_the_user_s_own_compiles_are_left_alone() -> None:
    original = replaced_function._compiler_any.compile_or_get_cached
    inspect(plain(), X)
    assert replaced_function._compiler_any.compile_or_get_cached is original
    with pytest.raises(Exception, match="no_such_option"):
        run_failing()
    assert replaced_function._compiler_any.compile_or_get_cached is original


def run_failing() -> None:
    inspection = run(Call(plain(), (X,), compiler_options={"no_such_option": 1}))
    assert inspection.error is not None
    raise inspection.error.exception or AssertionError


def test_another_thread_s_compiles_do_not_pass_through() -> None:
    seen: list[Any] = []

    def watcher(what: Any, compile_: Any) -> Any:
        seen.append(threading.get_ident())
        return compile_()

    with compile_watch.watch_backend_compile(watcher):
        other = threading.Thread(target=lambda: jax.jit(lambda x: x - 5)(X))
        other.start()
        other.join()
        assert not seen
        jax.jit(lambda x: x - 6)(X)
    assert set(seen) == {threading.get_ident()}


def test_two_threads_at_once() -> None:
    found: list[Any] = []

    def look(n: int) -> None:
        def f(x):
            return x + n

        found.append((n, inspect(f, X).compiled(X)))

    threads = [threading.Thread(target=look, args=(n % 3,)) for n in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 9
    for n, value in found:
        np.testing.assert_array_equal(value, X + n)


def test_a_signature_of_jax_that_we_do_not_know_compiles_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    original = replaced_function._compiler_any.compile_or_get_cached

    def other(*args: Any) -> Any:
        return original(*args)

    monkeypatch.setattr(replaced_function._compiler_any, "compile_or_get_cached", other)
    first, second = looks(plain, X)
    assert not again(second)
    assert float(second.compiled(X)["sum"]) == float(first.compiled(X)["sum"])
