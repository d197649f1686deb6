"""The folder of a kernel's cells, "ipykernel_123" or marimo's "marimo_123", in what is kept for other kernels.

There it is "ipykernel_000".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FOLDER = re.compile(rb"(?:ipykernel|marimo)_\d+")


@dataclass(frozen=True)
class CellFolder:
    """The name of the one folder of cells that a module's locations have.

    Attributes:
      name: its bytes; empty where there is none, or are several.
    """

    name: bytes

    @staticmethod
    def of(module: bytes) -> CellFolder:
        """That of a module's bytecode."""
        names = set(_FOLDER.findall(module))
        return CellFolder(names.pop() if len(names) == 1 else b"")

    def anonymous(self, data: bytes) -> bytes:
        """Bytes in which the folder has the name that it has in what is kept, which is as long."""
        return data.replace(self.name, self._kept) if self.name else data

    def ours(self, data: bytes) -> bytes:
        """`anonymous` undone."""
        return data.replace(self._kept, self.name) if self.name else data

    @property
    def _kept(self) -> bytes:
        return re.sub(rb"\d", b"0", self.name)
