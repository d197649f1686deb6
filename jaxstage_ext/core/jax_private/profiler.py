"""A session of XLA's profiler whose result stays in memory, as bytes.

JAX 0.12 has a public session, which gives events without the HLO modules and no bytes; 0.10 has none.
Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from typing import Any

import jax
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
