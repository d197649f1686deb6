"""`--vs`: the Inspection that a call is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.text.units import with_article
from jaxstage_ext.report.view_parts import in_one_line

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection

    Earlier = tuple[str, Inspection]
    """What an inspection is called in the comparison, and it."""

_LONGEST = 40


def earlier(text: str, space: Mapping[str, Any]) -> Earlier:
    """The Inspection of an expression such as `before`. Raises UsageError where it is none."""
    from jaxstage_ext.api.inspection import Inspection

    try:
        value = eval(compile(text.strip(), "<--vs>", "eval"), dict(space))
    except NameError as error:
        if not text.strip().isidentifier():
            raise UsageError(f"--vs {text}: {in_one_line(error)}") from None
        raise UsageError(
            f"--vs {text}: there is no variable {text}; compile the earlier version with -o {text} first"
        ) from None
    except Exception as error:
        raise UsageError(f"--vs {text}: {in_one_line(error)}") from None
    if isinstance(value, tuple) and len(value) == 1:
        [value] = value
    if not isinstance(value, Inspection):
        many = f" of {len(value)} inspections; name one, as in {text}[0]" if isinstance(value, tuple) and value else ""
        raise UsageError(
            f"--vs {text} is {with_article(type_name(value))}{many}"
            + ("" if many else "; give an Inspection, as -o NAME binds it")
        )
    name = text.strip()
    return shortened(name, _LONGEST), value
