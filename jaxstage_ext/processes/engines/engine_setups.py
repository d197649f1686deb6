"""Setting up the engines of a job once JAX has joined them, and who they then are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.processes.agreement import differing_fields
from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_process import EngineProcess
from jaxstage_ext.processes.engines.engine_set import EngineSet
from jaxstage_ext.processes.engines.process_stack import StackFile
from jaxstage_ext.store import cache

_PREPARE = "jaxstage_ext.processes.inside.engine_setup:prepare"
_COMPARED = ("jax", "jaxlib", "xla_flags", "platform")


def prepared(engines: EngineSet, folder: str) -> list[dict[str, Any]]:
    """What `prepare` gives in each engine. `folder` is the job's; the kernel's cache is theirs where they see it."""
    kept = cache.folder()
    return engines.ask(_PREPARE, folder, (str(kept[0].absolute()), kept[1]) if kept is not None else None)


def processes_of(engines: Sequence[int], facts: Sequence[Mapping[str, Any]]) -> list[EngineProcess]:
    """The processes, in the order of their indices, from what `prepare` gave in each engine."""
    made = [
        EngineProcess(
            fact["process"],
            fact["pid"],
            fact["host"],
            engine,
            fact["devices"],
            StackFile(fact["pid"], fact["started"], fact["stacks"], fact["main"]),
            fact["journal"],
        )
        for engine, fact in zip(engines, facts, strict=True)
    ]
    return sorted(made, key=lambda one: one.process)


def notes_about(facts: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What is to be known of a job: fields that differ, and a number of processes that is not that of the engines."""
    fields = {fact["process"]: {name: str(fact[name]) for name in _COMPARED} for fact in facts}
    notes = [wording.differs(name, values) for name, values in differing_fields(fields).items()]
    processes = facts[0]["processes"]
    if processes != len(facts):
        notes.append(wording.other_processes(len(facts), processes))
    return tuple(notes)
