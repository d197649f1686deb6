"""A program as a compile worker takes it: bytecode, options, devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core import build_options, jax_private, placement, remote
from jaxstage_ext.core.remote import USUAL, Limits, NotOnTarget
from jaxstage_ext.core.target import Target


@dataclass(frozen=True)
class Prepared:
    """What to compile, for which target.

    Attributes:
      request: the arguments of `worker_main.Compiler.compile` but `large_constants`: "module" is StableHLO bytecode,
        "options" a serialised CompileOptionsProto, "order" the ids of devices, "room" how many devices there are.
      devices: how many of the target's it runs on.   notes: what is to be known about how it is compiled.
    """

    target: Target
    request: Mapping[str, Any] = field(repr=False)
    devices: int
    notes: tuple[str, ...] = ()

    def ask(self, method: str, limits: Limits = USUAL, *, how: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """What the worker's method makes of the program; `how` is lane, environment and progress of `worker.ask`."""
        return remote.ask(self.target, {"method": method, **self.request, **more}, limits, **(how or {}))


def prepare(lowered: Any, fn: Any, target: Target, limits: Limits, given: Mapping[str, Any]) -> Prepared:
    """What `fn` was lowered to, with the compile options `given`, for a target other than local.

    Raises NotOnTarget where its mesh is larger than the target, BuildOptionError where options contradict it.
    """
    placed, room = jax_private.placed(lowered, fn), target.devices or 0
    if placed.count > room:
        raise NotOnTarget(
            f"the program's mesh has {placed.count:,} devices, but {target} has {room:,}; use a smaller mesh or a "
            "larger target"
        )
    chosen = build_options.order(given, placed.count, room)
    order, note = (list(chosen), None) if chosen else placement.order(placed, target, limits)
    given = build_options.for_xla(given)
    module, options = jax_private.compile_request(lowered, target.platform, order, given)
    request = {"room": room, "order": order, "module": module, "options": options}
    return Prepared(target, request, placed.count, (note,) if note else ())
