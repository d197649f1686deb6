"""A call to stage: a function, its arguments, and the options that it is staged with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxstage_ext.report.text.bounded_repr import ValueTexts

if TYPE_CHECKING:
    from jaxstage_ext.core.given.given_object import GivenObject
    from jaxstage_ext.core.layout.meshes import Layout


_NO_NAME = "jaxstage_ext_no_attribute_has_this_name"


@dataclass(frozen=True)
class Call:
    """A call to take through the stages."""

    fn: Callable[..., Any]
    """Any callable, or any object with `.trace` or `.lower`."""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """`args`, `kwargs`: pytrees of arrays or `jax.ShapeDtypeStruct`s."""
    name: str = ""
    """The title of the call; empty for the function's own name."""
    jit: Mapping[str, Any] = field(default_factory=dict)
    """The options of `jax.jit` to apply ("static_argnums", "donate_argnames", ...)."""
    cell: str | None = None
    """The label of the cell with the magic, such as "In [5]"."""
    compiler_options: Mapping[str, Any] = field(default_factory=dict)
    """The compile options, checked by `flag_values.check`."""
    layout: Layout | None = None
    """The mesh and PartitionSpecs that the user gives the call; None where the function has its own."""
    given: GivenObject | None = None
    """The object of JAX's that is staged instead of a function; None for a function."""
    texts: ValueTexts = field(default_factory=ValueTexts, repr=False, compare=False)
    """What `repr` and `__name__` of the call's values gave, each asked for once."""


def has_method(value: Any, name: str) -> bool:
    """Whether a value has a method of that name. One that answers to any name, as a mock does, has not."""
    try:
        return callable(getattr(value, name, None)) and getattr(value, _NO_NAME, None) is None
    except Exception:
        return False
