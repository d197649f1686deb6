"""The passes of an inspection's program: asked of the worker once, then kept by the inspection cache."""

from __future__ import annotations

import os
from typing import Any

from jaxstage_ext.core import stages
from jaxstage_ext.core.recompile import program
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.ir.passes import pipeline as passes
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool


def look(staged: stages.Staged, progress: Progress | None = None) -> passes.Pipeline:
    """Compile the program once more in the worker, with a dump after each pass.

    `progress` is told the seconds and the pass that is reached; what it raises ends the look.

    Raises:
      Unavailable, TargetError, worker.WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = program.prepared(staged)
    key = _key(prepared)
    if (found := cache.load(key)) is None:
        how = {"lane": pool.RECOMPILE, "progress": progress}
        answer = prepared.ask("passes", staged.limits, how=how)
        found = answer["head"], answer["parts"]
        if not answer["head"]["notes"]:
            cache.store(key, found[0], *found[1])
    return passes.pipeline(*found)


def _key(prepared: Prepared) -> str:
    target, request = prepared.target, prepared.request
    where = (target.platform, target.kind, target.topology, str(request["room"]), repr(request["order"]))
    return cache.key(
        "passes", *where, _plugin(target), os.environ.get("XLA_FLAGS", ""), request["module"], request["options"]
    )


def _plugin(target: Any) -> str:
    return "" if target.platform == "cpu" else str(packages.find(target.platform).version)
