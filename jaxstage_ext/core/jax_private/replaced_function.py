"""A function of JAX's compiler module that stands replaced as long as a thread is in a block."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from jax._src import compiler as _compiler

from jaxstage_ext.report.uninterrupted import surely, uninterrupted

_compiler_any: Any = _compiler


class ReplacedFunction:
    """One function of `jax._src.compiler`, for all threads: what replaces it asks whose thread it is in.

    A JAX without that function is left as it is.
    """

    def __init__(self, name: str, through: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._name, self._through = name, through
        self._changing = threading.RLock()
        self._blocks: set[object] = set()
        self._original: Callable[..., Any] | None = None

    @contextlib.contextmanager
    def replaced(self) -> Iterator[None]:
        """Replaced from the first block that is entered to the last that is left, in whatever order."""
        block = object()
        try:
            try:
                with uninterrupted():
                    self._enter(block)
                yield
            finally:
                surely(lambda: self._leave(block))
        finally:
            surely(lambda: self._leave(block))

    def _enter(self, block: object) -> None:
        with self._changing:
            if not self._blocks:
                self._original = getattr(_compiler_any, self._name, None)
                if self._original is not None:
                    setattr(_compiler_any, self._name, self._through(self._original))
            self._blocks.add(block)

    def _leave(self, block: object) -> None:
        with self._changing:
            if block not in self._blocks:
                return
            self._blocks.remove(block)
            if not self._blocks and self._original is not None:
                setattr(_compiler_any, self._name, self._original)
