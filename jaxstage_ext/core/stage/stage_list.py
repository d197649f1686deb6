"""The stages, in order. Reading this list imports no JAX: the magics are made from it."""

from __future__ import annotations

from jaxstage_ext.core.stage import compile_stage, lower_stage, trace_stage
from jaxstage_ext.core.stage.stage_definition import StageDefinition

STAGES: tuple[StageDefinition, ...] = (trace_stage.DEFINITION, lower_stage.DEFINITION, compile_stage.DEFINITION)


def up_to(name: str) -> tuple[StageDefinition, ...]:
    """The stages to run when `name` is the last. Raises ValueError for a stage that does not exist."""
    names = [definition.name for definition in STAGES]
    if name not in names:
        raise ValueError(f"stage={name!r} is not a stage; use one of {', '.join(map(repr, names))}")
    return STAGES[: names.index(name) + 1]


def before(name: str) -> tuple[StageDefinition, ...]:
    """The stages that come before this one. Raises ValueError for a stage that does not exist."""
    return up_to(name)[:-1]


def definition(name: str) -> StageDefinition:
    """The stage of that name. Raises ValueError for one that does not exist."""
    return up_to(name)[-1]


def makes_executable(name: str) -> bool:
    """Whether a call that is taken up to this stage is compiled."""
    return any(definition.makes_executable for definition in up_to(name))


def is_per_target(name: str) -> bool:
    """Whether what a call has up to this stage depends on the target."""
    return any(definition.per_target for definition in up_to(name))
