"""Calls when a module is imported that is not imported yet, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importing importlib.abc takes longer than all else here


class _Finder:
    """Finds one module as Python does, and calls when it has run; it leaves `sys.meta_path` then."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name = name
        self._then = then

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._ran)
        return spec

    def _ran(self) -> None:
        forget(self.name)
        self._then()


class _Loader(Loader):
    """A module's own loader, which calls when the module has run. The module keeps its own."""

    def __init__(self, own: Any, then: Callable[[], None]) -> None:
        self._own = own
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._own.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        self._then()


def after_import(name: str, then: Callable[[], None]) -> None:
    """Call `then`, which must not raise, right after the module of this name has run for the first time."""
    sys.meta_path.insert(0, _Finder(name, then))


def forget(name: str) -> None:
    """Do not call for this name any more."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not (type(finder) is _Finder and finder.name == name)]
