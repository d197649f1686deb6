"""What `%config JAXStage` shows: only settings that act."""

from __future__ import annotations

import os
from typing import Any

from traitlets import Bool, Int, TraitError, Unicode, observe, validate
from traitlets.config import SingletonConfigurable

from jaxstage_ext.store import cache as inspection_cache
from jaxstage_ext.worker import memory_limit


class JAXStage(SingletonConfigurable):
    """Settings of JAXStage; `%config JAXStage.most_panels = 8` changes one."""

    most_panels = Int(
        64, min=1, max=1000, help="Live panels a kernel keeps; beyond it the oldest turn into their static form."
    ).tag(config=True)

    cache = Bool(
        True, help="Whether what was compiled and read before is used again; False compiles at every look."
    ).tag(config=True)

    cache_dir = Unicode(
        os.environ.get(inspection_cache.FOLDER, ""),
        help="Folder that keeps what absent targets' compilers said, for later kernels; empty: memory alone. "
        f"{inspection_cache.FOLDER} in the environment sets it too.",
    ).tag(config=True)

    cache_gigabytes = Int(1, min=1, max=1000, help="What the folder may hold; the oldest go first.").tag(config=True)

    memory = Unicode(
        "", help="Most memory, such as 8GB, for a compile outside this process; empty: half of the machine's."
    ).tag(config=True)

    @validate("memory")
    def _size(self, proposal: Any) -> str:
        try:
            memory_limit.bytes_of(proposal["value"] or "1B")
        except ValueError as error:
            raise TraitError(str(error)) from None
        return str(proposal["value"])

    @observe("memory")
    def _limit(self, change: Any) -> None:
        memory_limit.set_default(memory_limit.bytes_of(self.memory) if self.memory else None)

    @observe("cache")
    def _enable(self, change: Any) -> None:
        inspection_cache.enable(self.cache)

    @observe("cache_dir", "cache_gigabytes")
    def _use_folder(self, change: Any) -> None:
        inspection_cache.use_folder(self.cache_dir or None, self.cache_gigabytes * 1_000_000_000)
