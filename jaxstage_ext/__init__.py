"""JAXStage: what JAX and XLA make of your function, inside the notebook."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Inspection",
    "MosaicSpec",
    "ProcessesDisagree",
    "Timeline",
    "Timing",
    "UnexpectedCompile",
    "compile_cache",
    "compiles",
    "expect_compiles",
    "find_shardings",
    "inspect",
    "load",
    "measure",
    "measure_ceilings",
    "preflight",
    "profile",
]

if TYPE_CHECKING:
    from jaxstage_ext.api.compiles import UnexpectedCompile, compile_cache, compiles, expect_compiles
    from jaxstage_ext.api.find_shardings import find_shardings
    from jaxstage_ext.api.inspect import inspect
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.api.load import load
    from jaxstage_ext.api.preflight import ProcessesDisagree, preflight
    from jaxstage_ext.api.profile import profile
    from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
    from jaxstage_ext.profiling.timeline import Timeline
    from jaxstage_ext.profiling.timing.measure import measure
    from jaxstage_ext.profiling.timing.measure_ceilings import measure_ceilings
    from jaxstage_ext.profiling.timing.timing import Timing

_HOMES = {
    "Inspection": "api.inspection",
    "MosaicSpec": "profiling.mosaic.mosaic_spec",
    "ProcessesDisagree": "api.preflight",
    "Timeline": "panel.showing.shown_timeline",
    "Timing": "profiling.timing.timing",
    "UnexpectedCompile": "api.compiles",
    "compile_cache": "api.compiles",
    "compiles": "api.compiles",
    "expect_compiles": "api.compiles",
    "find_shardings": "api.find_shardings",
    "inspect": "api.inspect",
    "load": "api.load",
    "measure": "profiling.timing.measure",
    "measure_ceilings": "profiling.timing.measure_ceilings",
    "preflight": "api.preflight",
    "profile": "api.profile",
}
"""Where each public name is defined; its file is imported when the name is first used."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"jaxstage_ext.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def load_ipython_extension(ip: Any) -> None:
    from jaxstage_ext.notebook import extension

    extension.load(ip)


def unload_ipython_extension(ip: Any) -> None:
    from jaxstage_ext.notebook import extension

    extension.unload(ip)


if os.environ.get("JAXSTAGE_PREFLIGHT", "") not in ("", "0"):
    importlib.import_module("jaxstage_ext.processes.script_preflight").begin_script()
