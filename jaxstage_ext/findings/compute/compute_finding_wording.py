"""What is said of findings that cost operations."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.core.promotion.promotion_values import SourceKind
from jaxstage_ext.report.text.units import plural

_MOST_NAMED = 3
AN_ARGUMENT = "an argument"
A_CAPTURED_ARRAY = "a captured array"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed


def scalar(value: float) -> str:
    """A NumPy or JAX scalar with a dtype of its own."""
    return f"the scalar {value:g}"


def made_by(primitive: str, line: str) -> str:
    """An operand without a name."""
    return f"the result of {primitive} in {line}" if line else f"the result of {primitive}"


def promoted(names: Sequence[str], narrow: str, wide: str, count: int, products: int) -> str:
    """What an operand makes wider."""
    verb = "is" if len(names) < 2 else "are"
    among = f", {plural(products, 'matrix product')} among them" if products else ""
    said = f"{_named(names)} {verb} {wide}, which makes {plural(count, 'value')} {wide} that would be {narrow}{among}."
    return said[0].upper() + said[1:] if said.startswith(("the ", "an ", "a ")) else said


def narrow_it(name: str, kind: SourceKind, dtype: str) -> str:
    """The change: the operand in the narrow dtype."""
    if kind is SourceKind.LITERAL:
        number = name.removeprefix("the scalar ")
        return f"{number}  # a Python number, which takes the dtype of the array, or jnp.{dtype}({number})"
    if kind is SourceKind.MADE:
        return f"# {name}: make it with dtype=jnp.{dtype}, or .astype(jnp.{dtype}) before it is used"
    return f"{name}.astype(jnp.{dtype})"


def is_narrow_enough(narrow: str, wide: str, is_emulated: bool) -> str:
    """What to look at before the change."""
    emulated = f" XLA computes {narrow} in {wide} on a CPU, where the change may save nothing." if is_emulated else ""
    return f"Whether {narrow} is precise enough for these values is not known.{emulated}"
