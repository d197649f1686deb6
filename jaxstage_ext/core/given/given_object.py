"""An object of JAX's that is staged instead of a function: where it stands, and what it makes for a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.targets.target import Target


@dataclass(frozen=True)
class GivenObject:
    """An object of JAX's that is staged instead of a function."""

    kind: str
    """What it is called, "Lowered"."""
    stage: str
    """The first stage that it has."""
    value: Any = field(repr=False)
    """The object."""
    make: Callable[[Target], Any] = field(repr=False)
    """What that stage has for a target. Raises Unavailable where it has nothing for it."""
    args: tuple[Any, ...] = field(default=(), repr=False)
    kwargs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """`args`, `kwargs`: of its call: `jax.ShapeDtypeStruct`s where it was given no others."""
    info: CallInfo = field(default_factory=CallInfo, repr=False)
    """What JAX says of that call."""
    is_made: bool = False
    """Whether the stage is computed, as it is for an Exported and a ClosedJaxpr; else it is there."""
    is_file: bool = False
    """Whether it is a module out of a file."""
    example: str = "local"
    """A target that such a module is for."""
    partitions: int = 1
    """For how many devices it is partitioned, or is to be."""


class NoFunction:
    """Stands for the function of an object that JAX made of it: there is none."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self) -> Any:
        raise ValueError(f"a {self._kind} has no Python function to run")
