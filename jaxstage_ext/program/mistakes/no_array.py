"""An argument that is no array, such as a string or a function."""

from __future__ import annotations

import re

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import with_article

_REFUSED = re.compile(
    r"Error interpreting argument to .{1,500}? as an abstract array\. The problematic value is of type "
    r"<class '(?:[\w.]{0,200}\.)?(\w{1,100})'> and was passed to the function at path ([^\s,]{1,200}?)\.?(?:\s|$)",
    re.DOTALL,
)


def explanation(program: Program, error: StageError) -> str | None:
    """Which argument is no array, and how to make it static; None for another error."""
    refused = _REFUSED.search(error.message)
    if refused is None:
        return None
    kind, path = refused.groups()
    name, what = re.match(r"\w+", path), f"{path} is {with_article(kind)}, not an array"
    if path.isidentifier() and name is not None:
        return f"{what}: make it static with static_argnames={path!r} of jax.jit, or bind it."
    return f"{what}: leave it out of the arguments, or bind it with functools.partial."
