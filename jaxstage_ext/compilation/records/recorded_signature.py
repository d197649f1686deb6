"""The signature of a call from the frames of the event that it raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from jaxstage_ext.compilation.records.compile_record import CallSignature, CompileRecord, FunctionIdentity, KeptValue
from jaxstage_ext.compilation.records.value_keeping import kept_value
from jaxstage_ext.core.jax_private import compile_frames
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, JittedCall, placement
from jaxstage_ext.core.jax_private.outlined_jaxprs import is_plain_tree


def recorded_signature(
    frames: EventFrames, call: JittedCall | None, function: FunctionIdentity | None
) -> CallSignature | None:
    """What the function was called with; of a backward pass its types alone."""
    if call is None:
        avals = compile_frames.lowered_types(frames)
        return CallSignature(None, avals) if avals else None
    leaves = compile_frames.leaves(frames)
    if leaves is None:
        return None
    transformed = compile_frames.inner_types(frames)
    return CallSignature(
        leaves.tree,
        transformed if len(transformed) == len(leaves.avals) else leaves.avals,
        tuple([placement(value) for value in leaves.values]),
        tuple([type(value).__name__ for value in leaves.values]),
        tuple(_statics(call, function)),
        tuple(call.kwargs),
    )


def forget_users_trees(records: Iterable[CompileRecord]) -> None:
    """Keep no pytrees whose nodes hold the user's objects, which JAX's caches held as long and have let go of."""
    for record in records:
        known = record.signature
        if known is not None and known.tree is not None and not is_plain_tree(known.tree):
            record.signature = replace(known, tree=None)


def _statics(call: JittedCall, function: FunctionIdentity | None) -> Iterator[KeptValue]:
    names = _free_parameters(function)
    for number in call.options.static_argnums:
        if -len(call.args) <= number < len(call.args):
            at = number % len(call.args)
            yield kept_value(names[at] if at < len(names) else str(at), call.args[at])
    for name in call.options.static_argnames:
        if name in call.kwargs:
            yield kept_value(name, call.kwargs[name])


def _free_parameters(function: FunctionIdentity | None) -> tuple[str, ...]:
    """The parameters that the call's positional arguments fill, which those of a partial or `self` do not."""
    if function is None:
        return ()
    filled: Any = sum(1 for value in function.bound if value.name.isdigit() or value.name == "self")
    return function.parameters[filled:]
