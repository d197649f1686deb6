"""`%compile_cache`: what JAX's persistent compilation cache does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.line_help import COMPILE_CACHE_OPTIONS as OPTIONS

if TYPE_CHECKING:
    from jaxstage_ext.panel.showing.shown_cache_report import ShownCacheReport

_LONGEST_WORD = 60


def shown(line: str) -> ShownCacheReport:
    """What `%compile_cache` shows. Raises UsageError."""
    words = line.split()
    unknown = next((word for word in words if word not in OPTIONS), None)
    if unknown is not None:
        shown_word = unknown[:_LONGEST_WORD].encode("utf-8", "backslashreplace").decode()
        what = "option" if unknown.startswith("-") else "argument"
        raise UsageError(f"%compile_cache has no {what} {shown_word}; it has {' and '.join(OPTIONS)}")
    from jaxstage_ext.panel.showing.shown_cache_report import shown_cache_report

    try:
        return shown_cache_report("--verify" in words, "--set-aside" in words)
    except OSError as error:
        raise UsageError(f"%compile_cache {line.strip()}: {error.filename}: {error.strerror or error}") from None
