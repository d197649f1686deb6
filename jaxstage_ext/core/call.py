"""What to stage: a function and the arguments that say which instance of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.core.layout.meshes import Layout


@dataclass(frozen=True)
class Call:
    """One call to take through the stages.

    Attributes:
      fn: any callable, or any object with `.trace` or `.lower`.
      args, kwargs: pytrees of arrays or `jax.ShapeDtypeStruct`s.
      name: how the call is titled; the function's name when empty.
      jit: options of `jax.jit` to apply ("static_argnums", "donate_argnames", ...).
      compiler_options: what `core.options.check` gave, for the compile stage.
      layout: the mesh and PartitionSpecs put upon it from outside; None for what the function carries itself.
      cell: label of the cell that asked ("In [5]").
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    jit: Mapping[str, Any] = field(default_factory=dict)
    cell: str | None = None
    compiler_options: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout | None = None
