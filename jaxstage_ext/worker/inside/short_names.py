"""A module's name is part of the name of every file that XLA dumps of it, and a file's name has 255 bytes at most.

Runs in the worker: jaxlib alone.
"""

from __future__ import annotations

import io
from typing import NamedTuple

MOST = 48
"""Letters of a name that leave room for those of two passes and a pipeline, of which XLA cuts none."""
_HEAD = "HloModule "


class ShortName(NamedTuple):
    """The name under which a module is compiled, and its own."""

    short: str
    own: str

    def restored(self, text: str) -> str:
        """The text of a module of XLA's with its own name."""
        if self.short == self.own or not text.startswith(f"{_HEAD}{self.short},"):
            return text
        return _HEAD + self.own + text[len(_HEAD) + len(self.short) :]


def shortened(module: bytes) -> tuple[bytes, ShortName]:
    """StableHLO bytecode under a name with which XLA can dump it: the same where that is short enough."""
    from jaxlib.mlir import ir

    from jaxstage_ext.worker.inside.clients import parsed

    try:
        operation = parsed(module).operation
    except ir.MLIRError:  # what cannot be read is refused by the compile, which says why
        return module, ShortName("", "")
    own = operation.attributes["sym_name"].value if "sym_name" in operation.attributes else ""
    if len(own.encode()) <= MOST:
        return module, ShortName(own, own)
    short = own.encode()[:MOST].decode(errors="ignore")
    operation.attributes["sym_name"] = ir.StringAttr.get(short, operation.context)
    operation.write_bytecode(written := io.BytesIO())
    return written.getvalue(), ShortName(short, own)
