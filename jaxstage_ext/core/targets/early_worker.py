"""Starts a target's worker early: it is ready by the time that JAX has traced and lowered what it is to compile."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from jaxstage_ext.core.options import file_options
from jaxstage_ext.core.targets import environments
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.store import cache


def start(targets: Sequence[Target]) -> None:
    """Start the worker of the first target that needs one; what is wrong with it, the request that needs it says.

    Not where a folder may have the answer. A worker that runs, in whichever environment, stays.
    """
    first = next((target for target in targets if not target.is_local), None)
    if first is None or cache.has_folder():
        return
    with contextlib.suppress(Exception):
        from jaxstage_ext.worker import pool  # it needs Unix

        if not pool.has_worker(first.platform):
            pool.start(first.platform, environments.taken(first.platform, file_options.of_process()))
