"""Loading the extension into a shell, and unloading it again without a trace."""

from __future__ import annotations

import contextlib
import copy
import glob
import os
import sys
from collections.abc import Callable
from importlib import util
from types import FrameType
from typing import Any

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.notebook.magics import StageMagics
from jaxstage_ext.notebook.settings import JAXStage

_ENDS = {
    "jaxstage_ext.compilation.records.compile_log": "forget",
    "jaxstage_ext.compilation.events.stage_results": "drop",
    "jaxstage_ext.compilation.events.event_place": "forget",
    "jaxstage_ext.compilation.records.function_identity": "forget",
    "jaxstage_ext.compilation.history.history": "forget",
    "jaxstage_ext.panel.showing.shown_history": "forget",
    "jaxstage_ext.store.cache": "clear",
    "jaxstage_ext.worker.pool": "close_all",
    "jaxstage_ext.processes.engines.engine_start": "close",
    "jaxstage_ext.panel.showing.display": "freeze_all",
    "jaxstage_ext.panel.jobs": "end_all",
}
"""What ends all that a module, if it was imported, has started or keeps; the last one first."""


def load(ip: Any) -> None:
    """Register the magics, their completion and their settings. Loading a second time does nothing."""
    if StageMagics.__name__ in ip.magics_manager.registry:
        return
    with contextlib.ExitStack() as undo:
        magics = _register(ip, undo.callback)
        magics.undo = undo.pop_all()
    _say_once(platform_note())


_said: set[str] = set()


def _say_once(note: str) -> None:
    """Print a line, once in the process."""
    if note and note not in _said:
        _said.add(note)
        print(note)


def unload(ip: Any) -> None:
    """Remove everything that `load` registered, and everything that the extension's use has started or keeps.

    Only the modules stay, with a handler that closes workers when Python exits, and one for forks.
    """
    magics = ip.magics_manager.registry.get(StageMagics.__name__)
    if magics is None:
        return
    if _is_reloading():
        _tell_if_cut(ip)
    magics.undo.close()


def _is_reloading() -> bool:
    """Whether IPython's `%reload_ext` unloads, which loads right after it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "reload_extension":
        frame = frame.f_back
    return frame is not None


def _tell_if_cut(ip: Any) -> None:
    """Say at the end of the cell that the extension is not loaded, where an interrupt kept `%reload_ext` from it."""

    def tell(*_: Any) -> None:
        ip.events.unregister("post_run_cell", tell)
        if StageMagics.__name__ not in ip.magics_manager.registry:
            print("%reload_ext was interrupted, and JAXStage is unloaded; %load_ext jaxstage_ext loads it")

    ip.events.register("post_run_cell", tell)


def _register(ip: Any, at_unload: Callable[..., object]) -> StageMagics:
    """Register each part, after what takes it away again."""
    for module, end in _ENDS.items():
        at_unload(_end, module, end)
    at_unload(_configure, ip, copy.deepcopy(ip.config.get(JAXStage.__name__)))  # where %config has written
    settings = JAXStage.instance(parent=ip)
    at_unload(JAXStage.clear_instance)
    at_unload(listening.stop)  # after `undo`, which may start it
    at_unload(settings.undo)
    _append(ip.configurables, settings, at_unload)
    magics = StageMagics(ip)
    at_unload(_remove, ip.configurables, magics)  # where `Magics` has put it
    _add_magics(ip, magics, at_unload)
    _append(ip.input_transformers_cleanup, magics.await_cells, at_unload)
    _append(ip.Completer.custom_matchers, magics.complete, at_unload)
    for event, callback in (
        ("pre_run_cell", magics.running_cell.before),
        ("pre_run_cell", _renew),
        ("pre_run_cell", magics.name_for_engines),
        ("post_run_cell", magics.running_cell.after),
        ("post_run_cell", magics.front_end.after_cell),
        ("post_run_cell", _hear_refusal),
        ("pre_run_cell", magics.compile_notice.before),
        ("post_run_cell", magics.compile_notice.after),
    ):
        ip.events.register(event, callback)
        at_unload(_remove, ip.events.callbacks[event], callback)
    at_unload(run_cells.forget)
    magics.running_cell.join()
    if settings.compile_log:
        listening.start()
    magics.front_end.register()
    at_unload(magics.front_end.unregister)
    return magics


def _renew(info: Any) -> None:
    listening.renew()


def _hear_refusal(result: Any) -> None:
    """A call that JAX refused raises none of its events; the error that ended the cell tells of it."""
    error = getattr(result, "error_in_exec", None)
    if error is None or "jax" not in sys.modules or not listening.is_on():
        return
    from jaxstage_ext.compilation.events import refused_call

    refused_call.hear(error)


def _append(items: list[Any], item: Any, at_unload: Callable[..., object]) -> None:
    items.append(item)
    at_unload(_remove, items, item)


def _remove(items: list[Any], item: Any) -> None:
    with contextlib.suppress(ValueError):  # somebody else has removed it
        items.remove(item)


def _add_magics(ip: Any, magics: StageMagics, at_unload: Callable[..., object]) -> None:
    """Register the magics; at the end the shell has those back that it had under the same names."""
    manager = ip.magics_manager
    tables = [manager.registry, *manager.magics.values(), vars(manager.user_magics)]
    former = [dict(table) for table in tables]
    magics.register()
    for table, before in zip(tables, former, strict=True):
        for name, value in table.items():
            if before.get(name) is not value:
                at_unload(_restore, table, name, value, before.get(name))


def _restore(table: dict[str, Any], name: str, ours: Any, former: Any) -> None:
    if table.get(name) is not ours:  # somebody else's by now
        return
    if former is None:
        del table[name]
    else:
        table[name] = former


def _configure(ip: Any, settings: Any) -> None:
    if settings is None:
        ip.config.pop(JAXStage.__name__, None)
    else:
        ip.config[JAXStage.__name__] = settings


def _end(module: str, end: str) -> None:
    if module in sys.modules:
        getattr(sys.modules[module], end)()


_DEVICES = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd", "/dev/accel*", "/dev/vfio/[0-9]*")
"""Device files of NVIDIA GPUs, of GPUs under WSL, of AMD GPUs, and of TPUs."""
_LIBRARIES = {"libtpu": "libtpu", "xla_cuda13": "JAX's CUDA plugin", "xla_cuda12": "JAX's CUDA plugin"}


def platform_note() -> str:
    """One line where JAX's first operation would try libtpu or the CUDA plugin in vain, and report it; "" elsewhere."""
    if sys.platform != "linux" or os.environ.get("JAX_PLATFORMS"):
        return ""
    installed = list(dict.fromkeys(words for name, words in _LIBRARIES.items() if _is_installed(name)))
    if not installed or any(map(glob.glob, _DEVICES)) or _is_decided():
        return ""
    return (
        f"JAXStage: this machine shows no GPU or TPU, but has {' and '.join(installed)}, which JAX's first operation "
        "tries, with errors on stderr. Where JAX_PLATFORMS=cpu is set before JAX is imported it does not; targets such "
        "as -t v5e:2x2 compile all the same."
    )


def _is_decided() -> bool:
    """Whether JAX has its devices already, or was told which to take."""
    jax = sys.modules.get("jax")
    if jax is None:
        return False
    from jaxstage_ext.core.jax_private import jax_options

    return bool(getattr(jax.config, "jax_platforms", None)) or jax_options.backends_exist()


def _is_installed(name: str) -> bool:
    if name == "libtpu":
        return util.find_spec(name) is not None
    places = getattr(util.find_spec("jax_plugins"), "submodule_search_locations", None) or ()
    return any(os.path.isdir(os.path.join(place, name)) for place in places)
