"""What a process compares of a program that it has staged and not run. It runs in each process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.core.jax_private import jaxprs, pending_compile
from jaxstage_ext.core.jax_private.pending_compile import PendingCompile
from jaxstage_ext.processes import program_reading
from jaxstage_ext.processes.arrival import ComparedPart
from jaxstage_ext.processes.program_texts import ProgramTexts

_ADDRESS = re.compile(r"\b0x[0-9a-f]{4,16}\b")


@dataclass(frozen=True, eq=False)
class ComparedProgram:
    """A program before its first run, with the line that calls it."""

    pending: PendingCompile
    place: Place | None

    @property
    def spans(self) -> bool | None:
        """Whether it runs on devices of several processes; None where its devices are unknown."""
        return len(self.pending.processes) > 1 if self.pending.devices else None

    @property
    def place_label(self) -> str:
        """The line that calls it, "In [3]:7"; "" where it is unknown."""
        return f"{program_reading.place_label(self.place.file)}:{self.place.line}" if self.place is not None else ""

    def digests(self) -> dict[ComparedPart, str]:
        """Of each part that is known: of what was only traced the jaxpr instead of StableHLO, options and devices."""
        surroundings = "\n".join(f"{name}={text}" for name, text in sorted(environment(self.pending).items()))
        made = {
            ComparedPart.ENVIRONMENT: pending_compile.text_digest(surroundings),
            ComparedPart.ORDER: self.pending.name,
        }
        if self.pending.module is None:
            return made | {ComparedPart.JAXPR: _jaxpr_digest(self.pending.jaxpr)}
        made[ComparedPart.STABLEHLO] = self.pending.module_digest()
        if self.pending.options is not None:
            made[ComparedPart.DEVICES] = pending_compile.text_digest(repr(_devices(self.pending.devices)))
            made[ComparedPart.OPTIONS] = self.pending.options_digest()
        return made

    def texts(self) -> ProgramTexts:
        """All that is compared, as texts with the user's lines."""
        return program_reading.program_texts(0, self.pending, self.place, environment(self.pending), ())


def compared_program(
    name: str, traced: Any, lowered: Any, options: Mapping[str, Any], place: Place | None
) -> ComparedProgram | None:
    """What was staged, as far as it got; None where JAX neither traced nor lowered it.

    Args:
      name: of the call.
      traced: the `jax.stages.Traced`; None where there is none.
      lowered: the `jax.stages.Lowered`; None where there is none.
      options: the compiler options that are given beside the function's own.
      place: the line with the call.
    """
    jaxpr = traced.jaxpr if traced is not None else None
    pending = pending_compile.of_lowered(lowered, jaxpr, options) if lowered is not None else None
    if pending is None and jaxpr is not None:
        pending = PendingCompile(getattr(traced, "fun_name", None) or name, None, None, (), jaxpr)
    return None if pending is None else ComparedProgram(pending, place)


def environment(pending: PendingCompile) -> dict[str, str]:
    """Versions and flags of this process."""
    devices = pending.devices or tuple(jax.local_devices())
    return pending_compile.environment(devices[0].client)


def _devices(devices: Sequence[Any]) -> list[str]:
    """The devices in the program's order; where all are of this process, by their order among its own."""
    own = jax.local_devices()
    if all(device in own for device in devices):
        return [f"local {own.index(device)}" for device in devices]
    return [str(device.id) for device in devices]


def _jaxpr_digest(jaxpr: Any) -> str:
    """Of its text and of the small arrays that it captures; of large ones only their types are in it."""
    text, _ = jaxprs.print_jaxpr(jaxpr)
    return pending_compile.text_digest(_ADDRESS.sub("", text) + "".join(map(_captured, jaxpr.consts)))


def _captured(value: Any) -> str:
    return repr(value) if getattr(value, "size", 0) <= 64 and getattr(value, "is_fully_addressable", True) else ""
