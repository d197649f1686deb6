"""What is said of findings that cost memory."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.units import plural, scaled

_MOST_NAMED = 3
CONSTANT_IN_EVERY_FIGURE = "XLA compiles the values into the program, where every compile folds and copies them."


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed


def captured_constants(names: Sequence[str], size: int) -> str:
    """Arrays that the function closes over."""
    who = _named(names) or plural(1, "array")
    verb = "is" if len(names) < 2 else "are"
    return f"{who} {verb} captured as a constant of {scaled(size, 'B')}. {CONSTANT_IN_EVERY_FIGURE}"


def pass_as_argument(names: Sequence[str]) -> str:
    """The change, where no diff can be written."""
    return "\n".join(f"# pass {name} to the function as an argument" for name in names[:_MOST_NAMED])


def not_donated(names: Sequence[str], size: int) -> str:
    """Arguments whose memory a result could reuse."""
    verb = "is" if len(names) < 2 else "are"
    return (
        f"{_named(names)} {verb} not donated, and a result has the same type: "
        f"{scaled(size, 'B')} are held twice while the program runs."
    )


def donate(parameters: Sequence[str]) -> str:
    """The change, where no diff can be written."""
    return f"jax.jit(…, donate_argnames=({', '.join(map(repr, parameters))},))"


DONATED_IS_GONE = "A donated array cannot be used after the call."
