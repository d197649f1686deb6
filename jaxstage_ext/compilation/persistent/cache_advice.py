"""What to do so that the persistent cache is used: a sentence, and the lines to paste."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jaxstage_ext.compilation.persistent.cache_report import CacheReport
from jaxstage_ext.compilation.persistent.folder_state import FolderUse
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.report.text.units import plural

WRITE_ALL = 'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)'
SET_FOLDER = 'import jax, os\njax.config.update("jax_compilation_cache_dir", os.path.expanduser("~/.cache/jax"))'


@dataclass(frozen=True, slots=True)
class CacheAdvice:
    """A sentence, and the code that does it."""

    sentence: str
    code: str


def advice(report: CacheReport) -> tuple[CacheAdvice, ...]:
    """What to do; nothing where the cache does what it can."""
    return tuple(_advice(report))


def _advice(report: CacheReport) -> Iterator[CacheAdvice]:
    if report.state.use is FolderUse.NOT_SET:
        yield CacheAdvice("To keep programs for later kernels, set a folder:", f"{SET_FOLDER}\n{WRITE_ALL}")
    short = report.tally.compiles[CacheOutcome.FASTER_THAN_LIMIT]
    if short and report.state.folder and report.limits.seconds > 0:
        verb = "was" if short == 1 else "were"
        yield CacheAdvice(
            f"{plural(short, 'compile')} took less than the limit and {verb} not written; to write every program:",
            WRITE_ALL,
        )
