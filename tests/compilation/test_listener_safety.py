"""The log never disturbs the user's call, whatever its arguments, threads and listeners do."""

from __future__ import annotations

import enum
import functools
import gc
import sys
import threading
from collections.abc import Iterator
from types import FunctionType
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import monitoring

from jaxstage_ext.compilation.events import (
    kept_artefacts,
    listening,
)
from jaxstage_ext.compilation.records import value_keeping
from jaxstage_ext.compilation.records.compile_log import CompileLog
from jaxstage_ext.compilation.records.compile_record import StageName
from tests.helpers.heard_compiles import ALL, Heard, heard_compiles, stages


@pytest.fixture
def heard() -> Iterator[Heard]:
    with heard_compiles() as heard:
        yield heard


class Hostile:
    """A static argument whose every method fails once JAX has stopped asking."""

    armed = False

    def _fail(self, *_: Any) -> Any:
        if Hostile.armed:
            raise RuntimeError("user code ran")
        return 1

    def __hash__(self) -> int:
        return self._fail()  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        self._fail()
        return self is other

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    __str__ = __repr__

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"getattr {name}")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("dict")

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("class")


class Meta(type):
    """A metaclass that answers nothing."""

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(f"meta {name}")


class OfMeta(metaclass=Meta):
    pass


@pytest.mark.parametrize("kind", ["methods", "metaclass"])
def test_no_code_of_a_values_runs(kind: str) -> None:
    value = Hostile() if kind == "methods" else type.__call__(OfMeta)
    Hostile.armed = True
    try:
        kept = value_keeping.kept_value("n", value)
    finally:
        Hostile.armed = False
    assert kept.name == "n"
    assert kept.type.split(".")[-1] in ("Hostile", "OfMeta")
    assert kept.value is None
    assert kept.ref is not None


def test_a_hostile_static_argument(heard: Heard) -> None:
    assert float(jax.jit(lambda x, n: x + 1, static_argnums=1)(1.0, Hostile())) == 2
    [record] = heard.users()
    assert record.signature is not None
    assert record.signature.statics[0].type.endswith("Hostile")
    assert heard.faults == 0


class Comparing(type):
    """A metaclass that counts how often its classes are compared and hashed."""

    asked: ClassVar[list[str]] = []

    def __eq__(cls, other: object) -> bool:
        Comparing.asked.append("eq")
        return cls is other

    def __hash__(cls) -> int:
        Comparing.asked.append("hash")
        return id(cls)


def test_classes_are_compared_by_identity(heard: Heard) -> None:
    """The values of such a class as a static argument, captured, in a container, in a callback and as a policy."""

    class Of(metaclass=Comparing):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return None

    value = Of()

    def step(x: Any, static: Any, options: Any = (value, {"a": value})) -> Any:
        jax.debug.callback(value, x)
        return jax.checkpoint(jnp.sin, policy=value)(x) if options else x

    jitted = jax.jit(step, static_argnums=(1,))
    arguments = (np.ones(3), value)
    listening.stop()
    jitted(*arguments)
    jax.clear_caches()
    of_jax = Comparing.asked.copy()
    Comparing.asked.clear()
    listening.start()
    jitted(*arguments)
    assert Comparing.asked == of_jax
    assert heard.faults == 0


def test_donated_and_deleted_arrays(heard: Heard) -> None:
    step = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnums=0)
    x, y = jnp.ones(1000), jnp.ones(1000)
    step(x, y)
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        jax.jit(lambda x: x * 2)(x)
    assert heard.users()[-1].signature.avals[0].shape == (1000,)  # type: ignore[union-attr]
    assert heard.faults == 0


def test_cleared_listeners_come_back_with_the_next_compile(heard: Heard) -> None:
    step = jax.jit(lambda x: x + 1)
    step(1.0)
    monitoring.clear_event_listeners()
    step(np.ones(2))
    record = heard.users()[-1]
    assert stages(record) == ALL
    assert all(run.seconds is not None for run in record.stages)
    assert record.persistent is not None
    listening.stop()
    listening.start()
    step(np.ones(3))
    assert [stages(record) for record in heard.users()] == [ALL] * 3, "and none of it twice"


def test_listeners_cleared_within_a_stage_leave_no_stage_open(heard: Heard) -> None:
    def step(x: Any) -> Any:
        monitoring.clear_event_listeners()
        return x + 1

    jax.jit(step)(1.0)
    assert heard.named("step")[0].stages[0].seconds is None
    jax.jit(lambda x: x + 2)(1.0)
    assert heard.users()[-1].parent is None
    assert stages(heard.users()[-1]) == ALL


def test_a_second_start_and_a_stop(heard: Heard) -> None:
    listening.start()
    step = jax.jit(lambda x: x + 1)
    step(1.0)
    assert len(heard.users()) == 1
    listening.stop()
    assert not listening.is_on()
    step(2)
    assert len(heard.users()) == 1
    listening.start()
    step(np.ones(2))
    assert len(heard.users()) == 2


def test_threads_that_compile_at_once(heard: Heard) -> None:
    gate = threading.Barrier(4)

    def compile_some(n: int) -> None:
        gate.wait()
        for size in range(5):
            jax.jit(lambda x: x + n)(np.ones((n, size + 1), np.float32))

    threads = [threading.Thread(target=compile_some, args=(n,)) for n in range(1, 5)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    records = heard.users()
    assert len(records) == 20
    assert len({record.number for record in records}) == 20
    for record in records:
        assert stages(record) == ALL
        assert record.parent is None
        assert record.stage(StageName.TRACE).was_cached is not True  # type: ignore[union-attr]
        n, _ = record.signature.avals[0].shape  # type: ignore[union-attr]
        [captured] = record.function.captured  # type: ignore[union-attr]
        assert captured.value == n, "no record has parts of another thread's"
    assert heard.faults == 0


def test_the_log_is_bounded_by_bytes(heard: Heard) -> None:
    log = CompileLog(most=100, most_bytes=20_000)
    step = jax.jit(lambda x: x + 1)
    for size in range(1, 15):
        step.eval_shape(jax.ShapeDtypeStruct((size,), "float32"))
    for record in heard.users():
        log.add(record)
    assert 0 < sum(record.bytes for record in log) <= 20_000
    assert log.dropped == 14 - len(log)


def seen_from_the_log(ran: list[str], name: str) -> None:
    """Note that code of the user's runs, where the log called it."""
    frame = sys._getframe(1)
    while frame is not None:
        if "/jaxstage_ext/compilation/" in frame.f_code.co_filename:
            ran.append(name)
        frame = frame.f_back  # type: ignore[assignment]


def test_no_code_of_what_a_function_names_or_captures_runs(heard: Heard) -> None:
    ran: list[str] = []

    class Proxy:
        @property
        def __class__(self) -> Any:  # type: ignore[override]
            seen_from_the_log(ran, "__class__")
            return Proxy

        def __call__(self) -> None: ...

    class Key:
        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, other: object) -> bool:
            seen_from_the_log(ran, "key")
            return self is other

    class Space(dict[Any, Any]):
        def get(self, *given: Any) -> Any:
            seen_from_the_log(ran, "get")
            return dict.get(self, *given)

        items = get  # type: ignore[assignment]

    class Partial(functools.partial[Any]):
        @property
        def func(self) -> Any:
            seen_from_the_log(ran, "func")
            return functools.partial.func.__get__(self)  # type: ignore[attr-defined]

    class Watching(type):
        def __getattribute__(cls, name: str) -> Any:
            seen_from_the_log(ran, name)
            return type.__getattribute__(cls, name)

    class Watched(metaclass=Watching): ...

    proxy, keyed, watched = Proxy(), {Key(): 1, "a": 2}, Watched()
    space = Space(proxy=proxy, keyed=keyed, watched=watched, __name__="__main__")
    code = compile("def f(x):\n  return (proxy, keyed, watched) and x + 1", "cell.py", "exec")
    of_space = FunctionType(code.co_consts[0], space, "f")
    assert float(jax.jit(of_space)(1.0)) == 2
    assert float(jax.jit(lambda x: (proxy, keyed, watched) and x + 2)(1.0)) == 3
    assert float(jax.jit(Partial(lambda a, x: x + a, 2))(1.0)) == 3
    assert len(heard.users()) == 3
    assert ran == []
    assert heard.faults == 0


def live_bytes() -> int:
    gc.collect()
    return sum(array.nbytes for array in jax.live_arrays())


def of_namespace() -> None:
    text = "import jax\nimport jax.numpy as jnp\nbig = jnp.ones(1_000_000)\njax.jit(lambda x: x * big[0])(1.0)"
    exec(text, {"__name__": "__main__"})


def of_nested_jit() -> None:
    big = jnp.ones(1_000_000)
    inner = jax.jit(lambda x: x + big[0])
    jax.jit(lambda x: inner(x))(1.0)


def of_enum() -> None:
    big = enum.Enum("big", {"A": jnp.ones(1_000_000)}).A  # type: ignore[attr-defined]
    jax.jit(lambda x, n: x, static_argnums=1)(1.0, big)


@pytest.mark.parametrize("program", [of_namespace, of_nested_jit, of_enum])
def test_no_array_of_a_dropped_program_is_kept(heard: Heard, program: Any) -> None:
    before = live_bytes()
    program()
    jax.clear_caches()
    assert heard.users()
    assert live_bytes() - before < 1_000_000


def test_programs_with_large_constants_are_kept_up_to_a_limit(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_artefacts, "MOST_CODE", 40_000_000)
    for number in range(6):
        big = np.arange(1_000_000, dtype=np.float32) + number
        jax.jit(lambda x, big=big: x + jnp.asarray(big).sum())(1.0)
    kept = [record.artefacts.executable is not None for record in heard.users()]
    assert kept[-1]
    assert not kept[0]
    assert [stages(record) for record in heard.users()] == [ALL] * 6
    jax.clear_caches()
    assert all(record.artefacts.module is None for record in heard.users())
