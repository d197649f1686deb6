"""The compile log while a test runs: what JAX's real events make of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry, StageName


class Heard:
    """The records made since the block began."""

    def __init__(self) -> None:
        self._after = LOG.next_number()
        self._faults = LOG.faults

    def all(self) -> list[CompileRecord]:
        return [record for record in LOG if record.number > self._after]

    def named(self, name: str) -> list[CompileRecord]:
        return [record for record in self.all() if record.name == name]

    def users(self) -> list[CompileRecord]:
        """All but eager operations."""
        return [record for record in self.all() if record.entry is not Entry.EAGER]

    @property
    def faults(self) -> int:
        return LOG.faults - self._faults


@contextlib.contextmanager
def heard_compiles() -> Iterator[Heard]:
    """Listen inside the block, with JAX's caches empty."""
    was_on = listening.is_on()
    listening.start()
    jax.clear_caches()
    try:
        yield Heard()
    finally:
        if not was_on:
            listening.stop()


def stages(record: CompileRecord) -> list[str]:
    """The stages of a record by name, a cached trace marked."""
    return [run.stage.value + (" cached" if run.was_cached else "") for run in record.stages]


ALL = [stage.value for stage in StageName]
