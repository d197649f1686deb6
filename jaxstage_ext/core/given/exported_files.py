"""Files of `jax.export`: `exported.serialize()`."""

from __future__ import annotations

from typing import Any

from jax import export

from jaxstage_ext.core.given import module_files
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm
from jaxstage_ext.report.unavailable import Unavailable


def opened(data: bytes, title: str) -> Any:
    """The `jax.export.Exported` of a file. Its module is read in a worker before JAX reads it here.

    Raises UnreadableModule where it is damaged or of a version that this JAX does not read, and Unavailable where the
    package that JAX needs for it is missing.
    """
    try:
        exported = export.deserialize(bytearray(data))
    except ImportError:
        raise Unavailable(
            f"{title} is a serialised jax.export, which JAX reads with flatbuffers: pip install flatbuffers"
        ) from None
    except Exception as error:  # of a damaged file any
        why = (str(error).splitlines() or [""])[0]
        raise UnreadableModule(
            f"{title} is damaged, or of another version of jax.export: {type(error).__name__}: {why}"
        ) from None
    module_files.opened(exported.mlir_module_serialized, ModuleForm.STABLEHLO_BYTECODE, title)
    return exported
