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
    """A call to take through the stages.

    Attributes:
      fn: any callable, or any object with `.trace` or `.lower`.
      args, kwargs: pytrees of arrays or `jax.ShapeDtypeStruct`s.
      name: the title of the call; empty for the function's own name.
      jit: the options of `jax.jit` to apply ("static_argnums", "donate_argnames", ...).
      compiler_options: the compile options, checked by `flag_values.check`.
      layout: the mesh and PartitionSpecs that the user gives the call; None where the function has its own.
      cell: the label of the cell with the magic, such as "In [5]".
      given: the object of JAX's that is staged instead of a function; None for a function.
      texts: what `repr` and `__name__` of the call's values gave, each asked for once.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    jit: Mapping[str, Any] = field(default_factory=dict)
    cell: str | None = None
    compiler_options: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout | None = None
    given: GivenObject | None = None
    texts: ValueTexts = field(default_factory=ValueTexts, repr=False, compare=False)


def has_method(value: Any, name: str) -> bool:
    """Whether a value has a method of that name. One that answers to any name, as a mock does, has not."""
    try:
        return callable(getattr(value, name, None)) and getattr(value, _NO_NAME, None) is None
    except Exception:
        return False
