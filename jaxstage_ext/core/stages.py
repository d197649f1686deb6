"""Take a call through its stages, in order, and time each one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from jaxstage_ext.core import events, stage_list
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stageable import call_name, dynamic_arguments, stageable, unwrap
from jaxstage_ext.core.staged import DONE, FAILED, INTERRUPTED, RUNNING, Stage, Staged
from jaxstage_ext.core.targets.target import LOCAL, Target
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits

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


def plan_each(call: Call, upto: str, targets: Sequence[Target], limits: Limits = USUAL) -> list[Staged]:
    """The stages to run for each target. Targets share the stages that do not depend on them.

    Raises ValueError for a stage that does not exist.
    """
    definitions = stage_list.up_to(upto)
    shared = {definition.name: Stage(definition.name) for definition in definitions if not definition.per_target}
    planned = [
        Staged(
            call, [shared.get(definition.name) or Stage(definition.name) for definition in definitions], target, limits
        )
        for target in targets
    ]
    for staged in planned:
        staged.sources = planned[0].sources
    return planned


def run(staged: Staged, on_change: Callable[[], None]) -> None:
    """Run each stage in turn; stop at the first that fails or is interrupted.

    Never raises for what happens in a stage: the stage keeps its error.
    """
    for stage in staged.stages:
        if stage.error is None and stage.state != DONE:
            _run_stage(staged, stage, on_change)
        if stage.error is not None:
            return


def _run_stage(staged: Staged, stage: Stage, on_change: Callable[[], None]) -> None:
    """Run one stage. An interrupt that comes between JAX's work and ours is raised, and leaves no stage running."""
    try:
        _timed(staged, stage, on_change)
    except BaseException as error:
        if stage.state == RUNNING:
            stage.error = error
            stage.state = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
        raise


def _timed(staged: Staged, stage: Stage, on_change: Callable[[], None]) -> None:
    definition = stage_list.definition(stage.name)
    stage.state, stage.began = RUNNING, time.perf_counter()
    on_change()
    started = time.perf_counter()
    with events.hear() as heard:
        try:
            stage.value = definition.run(staged, stage)
            stage.state = DONE
        except KeyboardInterrupt as error:
            stage.error, stage.state = error, INTERRUPTED
        except BaseException as error:  # SystemExit and GeneratorExit of the user's function too
            stage.error, stage.state = error, FAILED
    wall = time.perf_counter() - started
    if stage.value is not None:
        event_seconds = heard.seconds(definition.event)
        if stage.seconds is None:
            stage.seconds = (stage.wall or wall) if event_seconds is None else event_seconds
        if stage.hit is None:
            stage.hit = definition.cache_hit(stage.value, event_seconds, heard)
    on_change()
