"""A profile of some code as bytes in memory, in the two supported versions of JAX alike."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax._src.lib import _profiler as _sessions


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
