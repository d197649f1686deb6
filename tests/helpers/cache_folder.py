"""A real folder of JAX's persistent cache, and what JAXStage says of each compile in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from jax._src import compilation_cache

from jaxstage_ext.compilation.records.compile_record import PersistentFacts


class CacheFolder:
    """A cache folder, and JAX's own view of it: the files in it.

    Attributes:
      facts: what was said of each compile.   takes_facts: whether they are kept here; else the compile log takes them.
    """

    takes_facts = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts: list[PersistentFacts] = []

    def use(self, path: Path | None = None) -> None:
        """Set the folder, as a fresh kernel finds it."""
        compilation_cache.reset_cache()
        jax.config.update("jax_compilation_cache_dir", str(path or self.path))

    def compile(self, function: Callable[..., Any], *args: Any, **jit: Any) -> PersistentFacts:
        """What is said of the compile of a call in a kernel that has compiled nothing yet."""
        jax.clear_caches()
        self.facts.clear()
        jax.jit(function, **jit)(*args)
        return self.facts[-1]

    def entries(self) -> list[str]:
        """The keys of the entries that JAX wrote."""
        return sorted(file.name.removesuffix("-cache") for file in self.path.glob("*-cache"))

    def file(self, key: str) -> Path:
        """The file of an entry."""
        return self.path / f"{key}-cache"

    def process(self, code: str, *arguments: str, **environment: str) -> str:
        """What another process prints that runs this code on the folder, with JAXStage listening."""
        given = {"JAX_COMPILATION_CACHE_DIR": str(self.path), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        done = subprocess.run(
            [sys.executable, "-c", _LISTENING + code, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **given, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr


_LISTENING = """
import sys, jax, jax.numpy as jnp
from jax import monitoring
from jaxstage_ext.compilation.persistent import watching
watching.start()
all_facts = []
def ended(event, seconds, **details):
    if event.endswith("backend_compile_duration") and (facts := watching.take()) is not None:
        all_facts.append(facts)
monitoring.register_event_duration_secs_listener(ended)
"""
