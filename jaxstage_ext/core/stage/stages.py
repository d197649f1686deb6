"""Take a call through its stages, in order, and time each one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import events, stage_error, stage_list
from jaxstage_ext.core.stage.stage_definition import StageDefinition
from jaxstage_ext.core.stage.stageable import call_name, dynamic_arguments, stageable, unwrap
from jaxstage_ext.core.stage.staged import DONE, FAILED, INTERRUPTED, NOT_GIVEN, RUNNING, WAITING, Stage, Staged
from jaxstage_ext.core.targets.target import LOCAL, Target
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits

if TYPE_CHECKING:
    from jaxstage_ext.core.options.option_sets import OptionSet

__all__ = [
    "DONE",
    "RUNNING",
    "Stage",
    "Staged",
    "call_name",
    "dynamic_arguments",
    "plan",
    "plan_each",
    "run",
    "stageable",
    "unwrap",
]


def plan(call: Call, upto: str) -> Staged:
    """The stages to run. Raises ValueError for a stage that does not exist."""
    [staged] = plan_each(call, upto, (LOCAL,))
    return staged


def plan_each(
    call: Call,
    upto: str,
    targets: Sequence[Target],
    limits: Limits = USUAL,
    option_sets: Sequence[OptionSet] = (),
) -> list[Staged]:
    """The stages to run for each target, and for each with each of several sets of compile options.

    Targets share the stages that do not depend on them, and the sets all but the compile.

    Raises ValueError for a stage that does not exist.
    """
    definitions = stage_list.up_to(upto)
    calls = [(replace(call, compiler_options=each.options), each.label) for each in option_sets] or [(call, "")]
    for_all = [_planned(call, definition) for definition in definitions if not definition.per_target]
    planned: list[Staged] = []
    for target in targets:
        for_target = [_planned(call, each) for each in definitions if each.per_target and not each.makes_executable]
        shared = {stage.name: stage for stage in (*for_all, *for_target)}
        planned += [
            Staged(
                one,
                [shared.get(definition.name) or _planned(call, definition) for definition in definitions],
                target,
                limits,
                label=_label(target, label),
            )
            for one, label in calls
        ]
    for staged in planned:
        staged.sources = planned[0].sources
    return planned


def _label(target: Target, options: str) -> str:
    """The target, and the set of options where there are several; of the kernel's own device the set alone."""
    if not options:
        return str(target)
    return options if target.name == LOCAL.name else f"{target} · {options}"


def _planned(call: Call, definition: StageDefinition) -> Stage:
    is_missing = call.given is not None and definition in stage_list.before(call.given.stage)
    return Stage(definition.name, NOT_GIVEN if is_missing else WAITING)


def run(staged: Staged, on_change: Callable[[], None]) -> None:
    """Run each stage in turn; stop at the first that fails or is interrupted.

    Never raises for what happens in a stage: the stage keeps its error.
    """
    before = dumped_files()
    try:
        for stage in staged.stages:
            if stage.error is None and stage.state not in (DONE, NOT_GIVEN):
                _run_stage(staged, stage, on_change)
            if stage.error is not None:
                return
    finally:
        staged.dumped += tuple(sorted(dumped_files() - before))


def _run_stage(staged: Staged, stage: Stage, on_change: Callable[[], None]) -> None:
    """Run one stage. An interrupt that comes between JAX's work and ours is raised, and leaves no stage running."""
    try:
        _timed(staged, stage, on_change)
    except BaseException as error:
        if stage.state == RUNNING:
            stage.error = error
            stage.state = INTERRUPTED if stage_error.is_interrupt(error) else FAILED
        raise


def _timed(staged: Staged, stage: Stage, on_change: Callable[[], None]) -> None:
    definition, given = stage_list.definition(stage.name), staged.call.given
    given = given if given is not None and given.stage == stage.name else None
    stage.state, stage.began = RUNNING, time.perf_counter()
    on_change()
    started = time.perf_counter()
    with events.hear() as heard:
        try:
            stage.value = definition.run(staged, stage) if given is None else given.make(staged.target)
            stage.state = DONE
        except BaseException as error:  # SystemExit and GeneratorExit of the user's function too
            stage.error = stage_error.as_interrupt(error)
            stage.state = INTERRUPTED if stage_error.is_interrupt(stage.error) else FAILED
    wall = time.perf_counter() - started
    if given is not None and not given.is_made:
        stage.is_given = True
    elif stage.value is not None:
        event_seconds = heard.seconds(definition.event)
        if stage.seconds is None:
            stage.seconds = (stage.wall or wall) if event_seconds is None else event_seconds
        if stage.hit is None:
            stage.hit = definition.cache_hit(stage.value, event_seconds, heard)
    on_change()


_MOST_FILES = 10_000
"""Files of a folder that are looked at."""


def dump_folder() -> str:
    """The folder of this machine that JAX writes to; "" where there is none, or it is in a store such as gs://."""
    given = str(jax.config.values.get("jax_dump_ir_to") or "")
    if given == "sponge":
        given = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", "")
    return "" if "://" in given else given


def dumped_files() -> frozenset[str]:
    """The names of the files in the folder that JAX dumps to while the stages of a call run."""
    place = dump_folder()
    if not place:
        return frozenset()
    try:
        with os.scandir(place) as entries:
            return frozenset(entry.name for entry, _ in zip(entries, range(_MOST_FILES), strict=False))
    except OSError:
        return frozenset()
