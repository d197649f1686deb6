"""An object of JAX's that is staged instead of a function: where it stands, and what it makes for a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.targets.target import Target


@dataclass(frozen=True)
class GivenObject:
    """An object of JAX's that is staged instead of a function.

    Attributes:
      kind: what it is called, "Lowered".
      stage: the first stage that it has.
      value: the object.
      make: what that stage has for a target. Raises Unavailable where it has nothing for it.
      args, kwargs: of its call: `jax.ShapeDtypeStruct`s where it was given no others.
      info: what JAX says of that call.
      is_made: whether the stage is computed, as it is for an Exported and a ClosedJaxpr; else it is there.
      is_file: whether it is a module out of a file.   example: a target that such a module is for.
      partitions: for how many devices it is partitioned, or is to be.
    """

    kind: str
    stage: str
    value: Any = field(repr=False)
    make: Callable[[Target], Any] = field(repr=False)
    args: tuple[Any, ...] = field(default=(), repr=False)
    kwargs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    info: CallInfo = field(default_factory=CallInfo, repr=False)
    is_made: bool = False
    is_file: bool = False
    example: str = "local"
    partitions: int = 1


class NoFunction:
    """Stands for the function of an object that JAX made of it: there is none."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self) -> Any:
        raise ValueError(f"a {self._kind} has no Python function to run")
