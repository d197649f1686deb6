"""Shardings given to `jax.jit` that do not fit its arguments: too long a spec, another tree, another sharding."""

from __future__ import annotations

import re
from typing import Any

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.core.jax_private import named_meshes, tracing
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves, name_in_pmap, parameter_names
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import plural

_SPEC = re.compile(r"spec=(P\((?:[^()]++|\([^()]*+\))*+\))")
_NAME = re.compile(r"pytree key path (\S{1,200}) is incompatible with its sharding annotation ")
_RANKS = re.compile(r"values of rank at least (\d{1,9}), but was applied to a value of rank (\d{1,9})")
_TREE = re.compile(r"at key path\s{1,9}pjit (in|out)_shardings\[(\d{1,6})\](\S{0,200})")
_KEYS = re.compile(r"with metadata\s{1,9}(\([^()\n]{0,300}\))")
_LENGTH = re.compile(r"got a tuple or list of length (\d{1,6}) for an args tuple of length (\d{1,6})")


def explanation(program: Program, error: StageError) -> str | None:
    """Which argument, and how the two differ; None for another error."""
    message = error.message
    if (named := _NAME.search(message)) and (ranks := _RANKS.search(message)) and (spec := _SPEC.search(message)):
        return _too_long(program, named[1], spec[1], int(ranks[1]), int(ranks[2]))
    if found := _TREE.search(message):
        return _tree(program, message, found)
    if found := _LENGTH.search(message):
        given, wanted = map(int, found.groups())
        names = ", ".join(parameter_names(program.call)[:wanted])
        return f"in_shardings has {plural(given, 'entry', 'entries')}, and the call {wanted} arguments ({names})."
    _, _, rest = message.partition("Got jit sharding: ")
    jit, _, rest = rest.partition(",\narg sharding: ")
    own, is_other, kind = rest.partition(" for arg type: ")
    return _other(program, jit, own, kind) if is_other else None


def _too_long(program: Program, name: str, spec: str, wanted: int, rank: int) -> str:
    if tracing.is_pmap(program.call.fn):
        own = name_in_pmap(program.call, name)
        return (
            f"{own}: pmap maps an axis of it, and it has {plural(rank, 'axis', 'axes')}: give in_axes with None for it."
        )
    return f"{name}: {spec} is for {plural(wanted, 'axis', 'axes')}, and it has {rank}."


def _tree(program: Program, message: str, found: re.Match[str]) -> str:
    side, index, below = found.groups()
    where = f"{side}_shardings[{index}]{below}"
    parameters = parameter_names(program.call)
    of = f" of {parameters[int(index)]}" if side == "in" and int(index) < len(parameters) else ""
    keys = _KEYS.findall(message)
    if "different pytree metadata" in message and len(keys) >= 2:
        whose = "the argument" if side == "in" else "the result"
        return f"{where}{of} has the keys {keys[0]}, and {whose} {keys[1]}; one sharding for all of it fits as well."
    return f"{where}{of} is another tree; one sharding for all of it fits as well."


def _other(program: Program, jit: str, own: str, kind: str) -> str | None:
    lying = [(name, leaf.sharding) for name, leaf in leaves(program.call) if _is(getattr(leaf, "sharding", None), own)]
    if not lying:
        return None
    names = [name for name, _ in lying]
    which = names[0] if len(names) == 1 else f"One of {', '.join(names[:4])}"
    wanted = next((one for one in tracing.given_shardings(program.call.fn) if _is(one, jit)), None)
    here, there = _place(lying[0][1]), _place(wanted)
    if here == there:
        here = there = ""
    return (
        f"{which} ({kind}) lies as {_short(own)}{here}, and in_shardings of jit want {_short(jit)}{there}: move it "
        "with jax.device_put, or leave in_shardings out."
    )


def _is(sharding: Any, text: str) -> bool:
    return sharding is not None and str(sharding) == text.strip()


def _place(sharding: Any) -> str:
    """` on devices 0, 1 (mesh d=2)`; "" where unknown."""
    for mesh in named_meshes.named_meshes(None, None, [sharding]):
        on = f"an abstract mesh of size {mesh.count}" if mesh.ids is None else refusals.devices(mesh.ids)
        return f" on {on} (mesh {mesh.sizes})"
    return ""


def _short(sharding: str) -> str:
    found = _SPEC.search(sharding)
    return found[1].replace(",)", ")") if found else sharding
