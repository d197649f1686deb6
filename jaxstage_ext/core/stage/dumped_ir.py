"""Files that JAX writes with `jax_dump_ir_to` while the stages of a call run."""

from __future__ import annotations

import os

import jax

_MOST = 10_000
"""Files of a folder that are looked at."""


def folder() -> str:
    """The folder of this machine that JAX writes to; "" where there is none, or it is in a store such as gs://."""
    given = str(jax.config.values.get("jax_dump_ir_to") or "")
    if given == "sponge":
        given = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", "")
    return "" if "://" in given else given


def files() -> frozenset[str]:
    """The names of the files in it."""
    place = folder()
    if not place:
        return frozenset()
    try:
        with os.scandir(place) as entries:
            return frozenset(entry.name for entry, _ in zip(entries, range(_MOST), strict=False))
    except OSError:
        return frozenset()
