"""JAX's persistent compilation cache as the panel shows it."""

from __future__ import annotations

from jaxstage_ext.compilation.persistent.cache_report import CacheReport, cache_report
from jaxstage_ext.program.kinds.kernel_program import KernelProgram


class CompileCacheProgram(KernelProgram):
    """A report of the persistent cache in a tab of its own.

    Attributes:
      report: what is shown, as it was when it was last read.
    """

    tab = "compile_cache"

    def __init__(self, report: CacheReport) -> None:
        super().__init__("Persistent compilation cache")
        self.report = report

    def refresh(self) -> int:
        """Read the cache anew; how many entries are new."""
        known = {entry.key for entry in self.report.entries}
        self.report = cache_report(self.report.was_verified)
        return sum(entry.key not in known for entry in self.report.entries)
