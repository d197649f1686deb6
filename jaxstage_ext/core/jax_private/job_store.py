"""The key-value store of a job of several processes, which the first process keeps and all can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jax._src import distributed as _distributed

_distributed_any: Any = _distributed
_TIMED_OUT, _EXISTS = "DEADLINE_EXCEEDED", "ALREADY_EXISTS"


class StoreLost(RuntimeError):
    """The store does not answer any more, as when the process that keeps it has ended."""


@dataclass(frozen=True, eq=False)
class JobStore:
    """The store that `jax.distributed.initialize` has connected this process to. Every method is one round trip.

    All raise StoreLost where it does not answer.
    """

    client: Any
    process: int
    processes: int

    def put(self, key: str, text: str) -> bool:
        """Store a text; False where the key has one, which stays."""
        try:
            self.client.key_value_set(key, text)
        except Exception as error:
            if _EXISTS in str(error):
                return False
            raise _lost(error) from None
        return True

    def wait(self, key: str, seconds: float) -> str | None:
        """The text of a key, as soon as it has one; None where it has none after some seconds. Threads go on."""
        try:
            text: str = self.client.blocking_key_value_get(key, max(int(seconds * 1000), 1))
        except Exception as error:
            if _TIMED_OUT in str(error):
                return None
            raise _lost(error) from None
        return text

    def entries(self, folder: str) -> dict[str, str]:
        """The texts of all keys in a folder, which ends in "/", by what follows it."""
        try:
            found = self.client.key_value_dir_get(folder)
        except Exception as error:
            raise _lost(error) from None
        return {key.removeprefix(folder): text for key, text in found}

    def remove(self, folder: str) -> None:
        """Remove all keys of a folder."""
        try:
            self.client.key_value_delete(folder)
        except Exception as error:
            raise _lost(error) from None


def _lost(error: Exception) -> StoreLost:
    return StoreLost(str(error).partition("\n")[0][:200])


def job_store() -> JobStore | None:
    """The store of this process's job; None where it is not in one of several processes."""
    state = _distributed_any.global_state
    if state.client is None or state.num_processes < 2:
        return None
    return JobStore(state.client, int(state.process_id), int(state.num_processes))


def is_same_job(one: JobStore, other: JobStore) -> bool:
    """Whether both are connections of one `jax.distributed.initialize`."""
    return one.client is other.client
