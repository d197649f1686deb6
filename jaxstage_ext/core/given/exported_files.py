"""Files of `jax.export`: `exported.serialize()`."""

from __future__ import annotations

import importlib.util
from typing import Any

from jax import export

from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.report.unavailable import Unavailable

TIMEOUT = 60.0
"""Seconds for reading a file: JAX counts to whatever number a damaged one names."""


def opened(data: bytes, title: str) -> Any:
    """The `jax.export.Exported` of a file, after a worker has read it and its module and survived.

    Raises UnreadableModule where it is damaged or of a version that this JAX does not read, and Unavailable where the
    package that JAX needs for it is missing.
    """
    from jaxstage_ext.worker import pool  # it needs Unix

    if importlib.util.find_spec("flatbuffers") is None:
        raise Unavailable(
            f"{title} is a serialised jax.export, which JAX reads with flatbuffers: pip install flatbuffers"
        )
    try:
        pool.ask("cpu", {"method": "open_exported", "data": data}, TIMEOUT)
        return export.deserialize(bytearray(data))
    except pool.RequestFailed as failed:
        why = f"{failed.type}: {(str(failed).splitlines() or [''])[0]}"
    except pool.WorkerDied as died:
        is_endless = died.cause == "time limit"
        why = f"JAX read it for {TIMEOUT:g} s and came to no end" if is_endless else died.summary
    except Exception as error:  # what a file is of that the worker's JAX read and this one does not
        why = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    raise UnreadableModule(f"{title} is damaged, or of another version of jax.export: {why}")
