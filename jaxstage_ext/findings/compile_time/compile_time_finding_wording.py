"""What is said of findings that cost compile time."""

from __future__ import annotations

from jaxstage_ext.report.text.units import plural


def compiled_again(function: str, count: int, why: str) -> str:
    """Compiles after the first, and what differed."""
    times = "again" if count == 1 else f"{plural(count, 'more time')}"
    return f"{function} was compiled {times} in this process, because {why}."


def advised(sentence: str, code: str) -> str:
    """The change, as the compile log gives it."""
    return f"# {sentence}\n{code}" if code else f"# {sentence}"
