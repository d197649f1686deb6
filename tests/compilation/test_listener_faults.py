"""A fault in any part of the log stays in the log: the user's call goes on."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import jax
import numpy as np
import pytest
from jax._src import compiler

from jaxstage_ext.compilation.events import (
    event_place,
    kept_artefacts,
    running_stages,
    stage_events,
    stage_results,
    trace_counts,
)
from jaxstage_ext.compilation.events.kept_artefacts import KeptArtefacts
from jaxstage_ext.compilation.events.running_stages import RunningStages
from jaxstage_ext.compilation.events.stage_results import StageOrigins
from jaxstage_ext.compilation.persistent import watching
from jaxstage_ext.compilation.records import function_identity, value_keeping
from jaxstage_ext.compilation.records.compile_log import LOG, CompileLog
from jaxstage_ext.core.jax_private import compile_context, compile_frames, monitoring_listeners
from jaxstage_ext.ir.sources import run_cells, source
from tests.helpers.heard_compiles import ALL, Heard, heard_compiles, stages


@pytest.fixture(scope="module", autouse=True)
def each_program_is_compiled_once() -> Iterator[None]:
    """What XLA has compiled of one program is loaded anew for each of the hundred functions; JAX tells the same."""
    made: dict[bytes, bytes] = {}
    compile_ = compiler.backend_compile_and_load

    def loaded(backend: Any, module: Any, executable_devices: Any, options: Any, host_callbacks: Any) -> Any:
        asked = module.operation.get_asm(enable_debug_info=True).encode() + options.SerializeAsString()
        if asked not in made:
            executable = compile_(backend, module, executable_devices, options, host_callbacks)
            made[asked] = executable.serialize()
            return executable
        return backend.deserialize_executable(
            made[asked], executable_devices=executable_devices, compile_options=options
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "backend_compile_and_load", loaded)
        yield


@pytest.fixture
def heard() -> Iterator[Heard]:
    with heard_compiles() as heard:
        yield heard


MODULES = (
    event_place,
    function_identity,
    kept_artefacts,
    running_stages,
    stage_events,
    stage_results,
    trace_counts,
    value_keeping,
    compile_context,
    compile_frames,
    monitoring_listeners,
)
CLASSES = (CompileLog, KeptArtefacts, RunningStages, StageOrigins, function_identity._Unwrapping)
ELSEWHERE = [(watching, "take"), (source, "cell_numbers"), (run_cells, "at_work")]
OF_READERS = (
    "innermost_function",
    "of_executable",
    "__init__",
    "__len__",
    "__iter__",
    "clear",
    "record",
    "fault",
    "drop",
    "names",
)
RARE = (
    "_effectful",
    "_transform",
    "_transform_options",
    "forget_running",
    "forget",
    "_has",
    "_without_function",
    "_is_called_by_jax",
    "of",
    "_of_object",
    "_take_equinox_call",
    "stopped",
)
"""Functions that the program below does not come to."""


def hooks() -> list[tuple[Any, str]]:
    """Every function of the modules that the listener calls, and every method of its classes."""
    functions = [
        (module, name)
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, FunctionType | functools._lru_cache_wrapper) and value.__module__ == module.__name__
    ]
    methods = [
        (kind, name) for kind in CLASSES for name, value in vars(kind).items() if isinstance(value, FunctionType)
    ]
    return [(where, name) for where, name in functions + methods + ELSEWHERE if name not in OF_READERS]


class Broken:
    """Raises wherever it is called; counts."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        raise self.error("injected")

    def __get__(self, instance: Any, kind: Any) -> Any:
        return self


class Offset:
    """A plain object that a function captures."""

    def __init__(self) -> None:
        self.zero = 0


def program() -> float:
    """Calls with what the listener looks at: a partial, a static, a captured array, a failure, a nested compile."""
    # put, not computed: each operation that runs by itself is a compile more for each of the hundred functions
    big, minus_three = jax.device_put((np.ones(3, np.float32), np.float32(-3)))
    offset = Offset()

    def step(scale: float, x: Any, n: int = 2) -> Any:
        with jax.ensure_compile_time_eval():
            total = jax.lax.neg(minus_three)
        return x * scale * n + big[0] + total + offset.zero

    jitted = jax.jit(functools.partial(step, 2.0), static_argnums=1)
    with pytest.raises(TypeError):
        jax.jit(lambda x: x @ x)(np.ones((2, 3)))
    jitted.lower(3.0, 4).compile()
    jax.clear_caches()
    jax.grad(lambda x: jitted(x, 2))(1.0)
    return float(jitted(1.0, 2))


@pytest.mark.parametrize(
    ("where", "name"), hooks(), ids=lambda at: at if isinstance(at, str) else at.__name__.rpartition(".")[2]
)
def test_a_fault_in_any_function_of_the_log_leaves_the_call_alone(
    heard: Heard, monkeypatch: pytest.MonkeyPatch, where: Any, name: str
) -> None:
    expected = 1 * 2.0 * 2 + 1 + 3
    whole = getattr(where, name)
    broken = Broken(ValueError)
    with monkeypatch.context() as patch:
        for holder in (where, *MODULES):  # those that imported it by name too
            for alias, value in list(vars(holder).items()):
                if value is whole:
                    patch.setattr(holder, alias, broken)
        for stage, take in list(stage_results._TAKE.items()):
            if take is whole:
                patch.setitem(stage_results._TAKE, stage, broken)
        assert program() == expected
    assert broken.calls or name in RARE
    jax.clear_caches()
    jax.jit(lambda x: x + 5)(1.0)
    assert stages(heard.users()[-1]) == ALL, "the log goes on"


def test_most_functions_of_the_log_are_reached_by_that_program(heard: Heard) -> None:
    """The injection above means something: a fault of a part is counted, and the record kept without it."""
    patch = pytest.MonkeyPatch()
    patch.setattr(stage_events, "function_identity", Broken(ValueError))
    try:
        jax.jit(lambda x: x + 5)(1.0)
    finally:
        patch.undo()
    [record] = heard.users()
    assert record.function is None
    assert record.signature is not None
    assert stages(record) == ALL
    assert heard.faults == 1
    assert LOG.last_fault.startswith("ValueError")


@pytest.mark.parametrize("name", ["begin", "end"])
def test_an_interrupt_in_the_log_is_the_users(heard: Heard, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stage_events, name, Broken(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            jax.jit(lambda x: x + 6)(1.0)
    step = jax.jit(lambda x: x + 7)
    assert float(step(1.0)) == 8
    assert stages(heard.users()[-1]) == ALL
    assert heard.users()[-1].parent is None
