"""Trace, lower, compile: a Call through JAX's own stages, with their times."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from jaxstage_ext.core import constants, events, executables, jax_private
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.layout import meshes, specs
from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.requests import USUAL, Limits
from jaxstage_ext.core.targets.target import LOCAL, Target

STAGES = ("trace", "lower", "compile")

LOOKED_UP = 3e-5
"""Seconds below which JAX's own trace time is that of finding the jaxpr in its cache: 3 to 12 us, against
over 140 us for the tracing of an empty function (jax 0.12.0.1, 2 GHz)."""

WAITING, RUNNING, DONE, FAILED, INTERRUPTED = "waiting", "running", "done", "failed", "interrupted"


@dataclass
class Stage:
    """One stage's progress.

    Attributes:
      value: what JAX (or a wrapper such as equinox) returned.
      key: of what determines the optimised module, in the inspection cache; None where that is not known.
    """

    name: str
    state: str = WAITING
    seconds: float | None = None
    note: str | None = None
    value: Any = None
    error: BaseException | None = None
    key: str | None = None
    began: float | None = None

    @property
    def elapsed(self) -> float | None:
        """Seconds that it has been running; None unless it runs."""
        return time.perf_counter() - self.began if self.state == RUNNING and self.began is not None else None


@dataclass
class Staged:
    """A call on its way; stages after a failed one stay waiting."""

    call: Call
    stages: list[Stage]
    target: Target = LOCAL
    limits: Limits = USUAL
    function: Any = field(default=None, repr=False)

    def stage(self, name: str) -> Stage | None:
        return next((s for s in self.stages if s.name == name), None)

    def value(self, name: str) -> Any:
        found = self.stage(name)
        return found.value if found else None

    @property
    def failed(self) -> Stage | None:
        return next((s for s in self.stages if s.error is not None), None)


def plan(call: Call, upto: str) -> Staged:
    """The stages to run. Raises ValueError for a stage that does not exist."""
    [staged] = plan_each(call, upto, (LOCAL,))
    return staged


def plan_each(call: Call, upto: str, targets: Sequence[Target], limits: Limits = USUAL) -> list[Staged]:
    """The stages to run for each target; the trace is one, shared by all. Raises as `plan`."""
    if upto not in STAGES:
        raise ValueError(f"stage={upto!r} is not a stage; use one of {', '.join(map(repr, STAGES))}")
    trace, *later = STAGES[: STAGES.index(upto) + 1]
    shared = Stage(trace)
    return [Staged(call, [shared, *map(Stage, later)], target, limits) for target in targets]


def run(staged: Staged, on_change: Callable[[], None]) -> None:
    """Run each stage in turn; stop at the first that fails or is interrupted.

    Never raises for what happens in a stage: the stage keeps its error.
    """
    for stage in staged.stages:
        if stage.error is not None:
            return
        if stage.state == DONE:
            continue
        stage.state, stage.began = RUNNING, time.perf_counter()
        on_change()
        started = time.perf_counter()
        with events.hear() as heard:
            try:
                stage.value = _STEPS[stage.name](staged)
                stage.state = DONE
            except KeyboardInterrupt as error:
                stage.error, stage.state = error, INTERRUPTED
            except Exception as error:
                stage.error, stage.state = error, FAILED
        wall = time.perf_counter() - started
        if stage.state == DONE:
            _note_time(stage, heard, wall)
        on_change()
        if stage.error is not None:
            return


def _note_time(stage: Stage, heard: events.Heard, wall: float) -> None:
    own = heard.seconds(stage.name)
    stage.seconds = wall if own is None else own
    if stage.value is None:
        stage.seconds = None
    elif isinstance(stage.value, Executable):
        _note_executable(stage, stage.value, wall)
    elif stage.name == "compile" and heard.cache_hits:
        stage.note = "from JAX's persistent cache"
    elif stage.note:
        return
    elif own is None or (stage.name == "trace" and (_seen_before(unwrap(stage.value)) or own < LOOKED_UP)):
        stage.note = f"{_DONE_BEFORE[stage.name]} earlier in this process"


def _note_executable(stage: Stage, executable: Executable, wall: float) -> None:
    stage.seconds = executable.seconds
    if executable.kept:
        stage.seconds, stage.note = wall, f"from the inspection cache; XLA took {executable.seconds:.3g} s"


_jaxprs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def _seen_before(traced: Any) -> bool:
    """Whether the jaxpr came out of an earlier trace of ours; it is remembered as long as JAX keeps it."""
    if traced is None:
        return False
    jaxpr = traced.jaxpr.jaxpr
    known = _jaxprs.get(id(jaxpr)) is jaxpr
    _jaxprs[id(jaxpr)] = jaxpr
    return known


_DONE_BEFORE = {"trace": "traced", "lower": "lowered", "compile": "compiled"}


def _trace(staged: Staged) -> Any:
    call, function = staged.call, _function(staged)
    args, kwargs = specs.arguments(call)
    with meshes.around(call.layout):
        if hasattr(function, "trace"):
            return meshes.traced(function.trace(*args, **kwargs), call.layout)
        return meshes.traced(jax_private.trace_through_lower(function.lower, args, kwargs), call.layout)


def _function(staged: Staged) -> Any:
    if staged.function is None:
        staged.function = stageable(staged.call)
    return staged.function


def _lower(staged: Staged) -> Any:
    if not staged.target.is_local:
        return cross_compile.lower(unwrap(staged.value("trace")), staged.target)
    function, layout = _function(staged), staged.call.layout
    if layout is not None and layout.is_abstract:
        return cross_compile.lower(unwrap(staged.value("trace")), cross_compile.here(staged.target))
    if hasattr(function, "trace"):
        return staged.value("trace").lower()
    with meshes.around(layout):
        return function.lower(*staged.call.args, **staged.call.kwargs)


def _compile(staged: Staged) -> Any:
    given = staged.call.compiler_options
    if staged.target.is_local:
        return _compile_here(staged, given)
    spell_out = constants.spelled_out(unwrap(staged.value("trace")))
    lowered = unwrap(staged.value("lower"))
    made = cross_compile.compile(lowered, staged.call.fn, staged.target, staged.limits, spell_out, given)
    staged.stages[-1].key = made.key
    return made


def _compile_here(staged: Staged, given: Mapping[str, Any]) -> Any:
    lowered, stage = staged.value("lower"), staged.stages[-1]
    value, made = executables.compile(unwrap(lowered), lambda: flag_values.compile_lowered(lowered, given))
    if made is not None:
        stage.key = made.key
        stage.note = f"compiled earlier in this process, in {made.seconds:.3g} s" if made.again else None
    return value


_STEPS: dict[str, Callable[[Staged], Any]] = {"trace": _trace, "lower": _lower, "compile": _compile}


def stageable(call: Call) -> Any:
    """An object with `.trace` or `.lower`: the function itself if it has one, else `jax.jit` of it.

    Raises TypeError where there is nothing to stage, or jit options are given
    for a function that is already jitted.
    """
    fn = call.fn
    if not callable(fn):
        raise TypeError(f"{fn!r} is a {type(fn).__name__}, not a function: there is nothing to stage")
    if callable(getattr(fn, "trace", None)) or callable(getattr(fn, "lower", None)):
        if call.jit:
            options = ", ".join(call.jit)
            raise TypeError(
                f"{call_name(call)} is already jitted, so {options} cannot be added; set it where it is jitted"
            )
        return fn
    return jax.jit(_keepable(fn), **call.jit, **(call.layout.jit if call.layout else {}))


def _keepable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.jit` keeps functions by hash and weak reference; a callable without is called through one that has both."""
    try:
        hash(fn)
        hash(getattr(fn, "__self__", None))
        weakref.ref(fn)
    except TypeError:
        name = getattr(fn, "__name__", type(fn).__name__)

        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        call.__name__ = call.__qualname__ = name
        return call
    return fn


def call_name(call: Call) -> str:
    """What to title the call: its own name, the function's, or its type's."""
    fn = call.fn
    inner = getattr(fn, "func", None)
    for name in (call.name, getattr(fn, "__name__", ""), getattr(inner, "__name__", "")):
        if name:
            return str(name)
    return type(fn).__name__


_OWN = (jax.stages.Traced, jax.stages.Lowered, jax.stages.Compiled, Executable)


def unwrap(value: Any) -> Any:
    """JAX's own stage object inside a library's (equinox, flax.nnx); the value itself if it is JAX's or ours."""
    for _ in range(4):
        if value is None or isinstance(value, _OWN):
            return value
        value = next((getattr(value, name) for name in ("traced", "lowered", "compiled") if hasattr(value, name)), None)
    return None


def dynamic_arguments(staged: Staged) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call's arguments as the executable takes them: without the static ones."""
    call = staged.call
    if not isinstance(staged.value("compile"), jax.stages.Compiled):
        return call.args, dict(call.kwargs)
    numbers, names = jax_private.static_arguments(_function(staged))
    count = len(call.args)
    static = {n % count for n in numbers if -count <= n < count} if count else set()
    args = tuple(arg for i, arg in enumerate(call.args) if i not in static)
    return args, {k: v for k, v in call.kwargs.items() if k not in names}
