"""One profiler session per process: who holds it, and a clear error for the second."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from jaxstage_ext.report.deliberate_error import DeliberateError

_session = threading.Lock()
_holders: list[str] = []


class ProfilerBusy(DeliberateError, RuntimeError):
    """Another profiler session records in this process; the message, one line, says whose it is and what to do."""


@contextlib.contextmanager
def profiler_session(holder: str) -> Iterator[None]:
    """Hold the profiler of this process for the block: XLA's, which takes one session.

    Args:
      holder: what to call it where it is in somebody's way: "%%profile of step", "measure(step)".

    Raises:
      ProfilerBusy: if a session runs already, before anything of the block is run.
    """
    if not _session.acquire(blocking=False):
        holders = _holders[-1:] or ["another call"]
        raise ProfilerBusy(
            f"the profiler is in use by {holders[0]}; a process has one profiler session at a time: wait until that "
            "has ended"
        )
    _holders.append(holder)
    try:
        _check_others()
        try:
            yield
        finally:
            _forget_dead()
    finally:
        _holders.clear()
        _session.release()


def _forget_dead() -> None:
    from jaxstage_ext.core.jax_private import profiler

    profiler.forget_dead_profile()


def _check_others() -> None:
    from jaxstage_ext.core.jax_private import profiler

    profiler.forget_dead_profile()
    if profiler.jax_profile_runs():
        raise ProfilerBusy(
            "JAX's own profiler is recording (jax.profiler.start_trace or trace); a process has one profiler session "
            "at a time: call jax.profiler.stop_trace() first"
        )
    if profiler.session_runs():
        raise ProfilerBusy(
            "another profiler session is recording in this process, for example one of TensorBoard or of a library; "
            "stop it first"
        )
