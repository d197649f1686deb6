"""Sessions of XLA's profiler: whether one runs, and one whose result stays in memory, as bytes.

JAX 0.12 has a public session, which gives events without the HLO modules and no bytes; 0.10 has none.
Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax._src import profiler as _profiler
from jax._src.lib import _profiler as _sessions


def start_session(python_tracer: bool) -> Any:
    """A session that records from now on, with the HLO modules that run, and Python's calls where asked for."""
    jax.local_devices()  # a backend that starts later is not recorded
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(python_tracer)
    options.host_tracer_level = 2
    options.enable_hlo_proto = True
    return _sessions.ProfilerSession(options)


def stop_session(session: Any) -> bytes:
    """End a session and give its XSpace, serialised. Raises JaxRuntimeError where another session was recording."""
    return bytes(session.stop())


_SECOND_SESSION = "ALREADY_EXISTS"


def jax_profile_runs() -> bool:
    """Whether `jax.profiler.start_trace`, `trace` or `ProfileSession` is recording."""
    state: Any = getattr(_profiler, "_profile_state", None)
    return any(getattr(state, name, None) is not None for name in ("session", "profile_session"))


def session_runs() -> bool:
    """Whether any session of the XLA profiler is recording, whoever started it.

    Checked with jax 0.10.2 and 0.12.0.1: the second session of a process starts without an error, and its `stop()`
    raises ALREADY_EXISTS, so that the whole run is lost. One that is started and stopped at once finds out beforehand,
    in 0.1 ms, without touching the one that runs.
    """
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = options.python_tracer_level = 0
    try:
        _sessions.ProfilerSession(options).stop()
    except jax.errors.JaxRuntimeError as error:
        return _SECOND_SESSION in str(error)
    return False


def forget_dead_profile() -> None:
    """Have JAX forget a profile of its own that does not record, as one that began during another session.

    Its `stop_trace` raises ALREADY_EXISTS, and JAX would refuse every later profile of this process.
    """
    state: Any = getattr(_profiler, "_profile_state", None)
    if jax_profile_runs() and not session_runs():
        with state.lock:
            state.reset()


def xplane_of(run: Callable[[], None]) -> bytes:
    """The serialised XSpace of what runs: device work, and on the host annotations but no Python calls.

    Ask `profiling.capture.session_lock` first: beside another session all is lost at its end.
    """
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level, options.host_tracer_level, options.enable_hlo_proto = 0, 1, False
    session = _sessions.ProfilerSession(options)
    try:
        run()
    finally:
        recorded: bytes = session.stop()
    return recorded
