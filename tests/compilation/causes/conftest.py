"""A compile log that hears what a test does, and the causes that it tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from jaxstage_ext.compilation.causes import cause_wording
from jaxstage_ext.compilation.causes.cause import Advice, Cause, Verdict
from jaxstage_ext.compilation.causes.causes import verdict
from jaxstage_ext.compilation.causes.precedents import Precedents
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry


@dataclass(frozen=True)
class Judged:
    """A record with what a user reads of it."""

    record: CompileRecord
    verdict: Verdict

    @property
    def cause(self) -> Cause:
        return self.verdict.cause

    @property
    def causes(self) -> set[Cause]:
        return {difference.cause for difference in self.verdict.differences}

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        """Of each difference what it is of, what was before, and what is now."""
        return [(each.what, each.before, each.now) for each in self.verdict.differences]

    @property
    def why(self) -> str:
        return cause_wording.why(self.record, self.verdict)

    @property
    def advice(self) -> Advice:
        found = cause_wording.advice(self.record, self.verdict)
        assert found is not None
        return found

    @property
    def code(self) -> str:
        """The code of the advice without its comments."""
        return re.sub(r"(?m)^# .*\n|  # .*$", "", self.advice.code)

    def mended(self, **names: Any) -> Any:
        """The value of the advice's code where the user's names have these values."""
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax.sharding import NamedSharding
        from jax.sharding import PartitionSpec as P

        return eval(
            self.advice.code, {"jax": jax, "jnp": jnp, "np": np, "NamedSharding": NamedSharding, "P": P} | names
        )


class HeardCompiles:
    """The compiles of functions that a test calls."""

    def all(self, name: str | None = None) -> list[Judged]:
        """Those of a function, or of all; eager operations are left out."""
        precedents = Precedents(LOG)
        records = [r for r in LOG if r.entry is not Entry.EAGER and name in (None, r.name)]
        return [Judged(record, verdict(record, precedents)) for record in records]

    def eager(self, name: str) -> list[Judged]:
        """The eager operations of a name."""
        precedents = Precedents(LOG)
        return [Judged(r, verdict(r, precedents)) for r in LOG if r.entry is Entry.EAGER and r.name == name]

    def causes(self, name: str | None = None) -> list[Cause]:
        return [judged.cause for judged in self.all(name)]

    def last(self, name: str | None = None) -> Judged:
        return self.all(name)[-1]

    def count(self) -> int:
        return len(self.all())


@pytest.fixture
def heard() -> Iterator[HeardCompiles]:
    """What JAX compiles while a test runs."""
    was_on = listening.is_on()
    listening.start()
    LOG.clear()
    faults = LOG.faults
    yield HeardCompiles()
    LOG.clear()
    if not was_on:
        listening.stop()
    assert LOG.faults == faults, LOG.last_fault
