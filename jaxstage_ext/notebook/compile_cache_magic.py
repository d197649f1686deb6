"""`%compile_cache`: what JAX's persistent compilation cache does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.error import UsageError

if TYPE_CHECKING:
    from jaxstage_ext.panel.shown_cache_report import ShownCacheReport

HELP = """Show JAX's persistent compilation cache: the folder that is really in use, and what it did for this kernel.

    %compile_cache              the folder, its entries and limits, hits, why misses missed, what was not written
    %compile_cache --verify     read every entry and compare it with the checksum taken when it was written
    %compile_cache --set-aside  rename the damaged entries (to NAME-cache.damaged), so that JAX writes them anew
    c = %compile_cache          the report: c.table(), c.to_pandas(), c.state, c.tally

The cache is JAX's: `jax.config.update("jax_compilation_cache_dir", FOLDER)` sets its folder. JAXStage records what each
key was made of, and the checksum of each entry, in a folder of its own, so that a miss can be explained and a damaged
entry is reported before JAX reads it: `%config JAXStage.damaged_cache_entries = "set aside"` renames it at once. An
entry is never loaded to test it. Of entries written without JAXStage only name, size and date are known."""
_LONGEST_WORD = 60
OPTIONS = ("--verify", "--set-aside")


def shown(line: str) -> ShownCacheReport:
    """What `%compile_cache` shows. Raises UsageError."""
    words = line.split()
    unknown = next((word for word in words if word not in OPTIONS), None)
    if unknown is not None:
        shown_word = unknown[:_LONGEST_WORD].encode("utf-8", "backslashreplace").decode()
        what = "option" if unknown.startswith("-") else "argument"
        raise UsageError(f"%compile_cache has no {what} {shown_word}; it has {' and '.join(OPTIONS)}")
    from jaxstage_ext.panel.shown_cache_report import shown_cache_report

    try:
        return shown_cache_report("--verify" in words, "--set-aside" in words)
    except OSError as error:
        raise UsageError(f"%compile_cache {line.strip()}: {error.filename}: {error.strerror or error}") from None
