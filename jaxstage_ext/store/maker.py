"""Which process made an entry: itself, another process of its job, or any other one of this user's."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Maker:
    """A process, without its host, its user or its number there.

    Attributes:
      run: what no other process has.
      job: what the processes of one job share; "" of a process that is in none.
      process: its index in the job; -1 of a process that is in none.
    """

    run: str
    job: str = ""
    process: int = -1

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def of_job(self) -> int | None:
        """Its index, where it is another process of this process's job."""
        own = me()
        return self.process if self.run != own.run and self.job and self.job == own.job else None


def from_dict(data: Mapping[str, Any]) -> Maker:
    """That of a `to_dict`. Raises ValueError for anything else."""
    if data.keys() != {"run", "job", "process"} or [*map(type, data.values())] != [str, str, int]:
        raise ValueError("not the maker of an entry")
    return Maker(**data)


class _Own:
    maker = Maker(secrets.token_hex(8))


def me() -> Maker:
    """The process that this is."""
    return _Own.maker


def join(job: str, process: int) -> None:
    """Be the process with this index in a job from now on."""
    _Own.maker = Maker(_Own.maker.run, job, process)


def _renew() -> None:
    _Own.maker = Maker(secrets.token_hex(8))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
