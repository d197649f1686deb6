"""From what a trace or a lowering made to the record of it, for stages that run ahead of time one by one."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any

from jaxstage_ext.compilation.records.compile_record import CompileRecord

_MOST = 512


class StageOrigins:
    """The records whose jaxpr or module is alive. Neither is kept alive."""

    def __init__(self) -> None:
        self._made: OrderedDict[int, tuple[weakref.ref[Any], CompileRecord]] = OrderedDict()

    def add(self, made: Any, record: CompileRecord) -> None:
        """A record's stage made this jaxpr or module."""
        self._made[id(made)] = weakref.ref(made), record
        while len(self._made) > _MOST:
            self._made.popitem(last=False)

    def of(self, made: Any) -> CompileRecord | None:
        """The record whose stage made it; None where it is not known."""
        ref, record = self._made.get(id(made), (None, None))
        return record if ref is not None and ref() is made else None

    def clear(self) -> None:
        """Forget all."""
        self._made.clear()
