"""JAXStage: what JAX and XLA make of your function, inside the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Inspection", "inspect", "load"]

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection, inspect
    from jaxstage_ext.loading import load


def __getattr__(name: str) -> Any:
    if name == "load":
        from jaxstage_ext import loading

        return loading.load
    if name in __all__:
        from jaxstage_ext import inspection

        return getattr(inspection, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(ip: Any) -> None:
    from jaxstage_ext.notebook import extension

    extension.load(ip)


def unload_ipython_extension(ip: Any) -> None:
    from jaxstage_ext.notebook import extension

    extension.unload(ip)
