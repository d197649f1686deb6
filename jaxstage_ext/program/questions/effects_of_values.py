"""Arguments and results that lie in the host's memory."""

from __future__ import annotations

import math
from typing import NamedTuple

from jaxstage_ext.core.jax_private import sharding_internals
from jaxstage_ext.core.jax_private.sharding_internals import ProgramValue
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.units import scaled


class ValueEffect(NamedTuple):
    """One argument or result: `what` says where it lies."""

    operation: str
    effect: str
    what: str


def effects_of_values(program: Program) -> list[ValueEffect]:
    """In the order of the call; none where nothing was traced."""
    if program.jax_traced is None:
        return []
    lowered = program.jax_lowered
    values = sharding_internals.program_values(lowered) if lowered is not None else []
    return [_lying(value) for value in values if sharding_internals.is_on_host(value.sharding)]


def _lying(value: ProgramValue) -> ValueEffect:
    size = scaled(math.prod(value.aval.shape) * int(value.aval.dtype.itemsize), "B")
    name = value.name if value.is_result else f"argument {value.name}"
    return ValueEffect(name, "", f"lies in the host's memory ({value.sharding.memory_kind}, {size})")
