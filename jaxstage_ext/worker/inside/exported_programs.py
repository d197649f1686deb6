"""What `jax.export` serialised, read where a damaged one does no harm. The one file of a worker that imports JAX."""

from __future__ import annotations

from jax import export

from jaxstage_ext.worker.inside import module_functions
from jaxstage_ext.worker.inside.foreign_modules import module_of


def check(data: bytes) -> None:
    """Reads an Exported and its module. Raises, ends this process, or comes to no end where it is damaged."""
    module = module_of(export.deserialize(bytearray(data)).mlir_module_serialized)
    if module_functions.MAIN not in module_functions.functions(module):
        raise ValueError("its module has no function main")
