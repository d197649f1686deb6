"""Shardings given to `jax.jit` that do not fit its arguments: too long a spec, another tree, another sharding."""

from __future__ import annotations

import re
from typing import Any

from jaxstage_ext.core.signatures import signature_of
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.refused_shardings import leaves
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.units import plural

_RANK = re.compile(
    r"pytree key path (\S{1,200}) is incompatible with its sharding annotation .{1,2000}? spec=(P\([^\n]{0,300}?\)), "
    r".{1,2000}? values of rank at least (\d{1,9}), but was applied to a value of rank (\d{1,9})",
    re.DOTALL,
)
_TREE = re.compile(
    r"pytree structure error: different (types|pytree metadata|lengths|numbers of pytree children)[^\n]{0,80} "
    r"at key path\s{1,20}pjit (in|out)_shardings\[(\d{1,6})\](\S{0,200})"
)
_KEYS = re.compile(r"with metadata\s{1,20}(\([^\n]{0,300}\))")
_LENGTH = re.compile(r"got a tuple or list of length (\d{1,6}) for an args tuple of length (\d{1,6})")
_OTHER = re.compile(
    r"Got jit sharding: (.{1,1000}?),\s{1,4}arg sharding: (.{1,1000}?) for arg type: (\S{1,200})", re.DOTALL
)
_SPEC = re.compile(r"spec=(P\([^\n]{0,300}?\))(?:, memory_kind|\))")


def explanation(program: Program, error: StageError) -> str | None:
    """Which argument, and how the two differ; None for another error."""
    message = error.message
    if found := _RANK.search(message):
        name, spec, least, rank = found.groups()
        return f"{name}: {spec} is for {plural(int(least), 'axis', 'axes')}, and it has {rank}."
    if found := _TREE.search(message):
        return _tree(program, message, found)
    if found := _LENGTH.search(message):
        given, wanted = map(int, found.groups())
        names = ", ".join(_parameters(program)[:wanted])
        return f"in_shardings has {plural(given, 'entry', 'entries')}, and the call {wanted} arguments ({names})."
    if found := _OTHER.search(message):
        return _other(program, *found.groups())
    return None


def _tree(program: Program, message: str, found: re.Match[str]) -> str:
    what, side, index, below = found.groups()
    where = f"{side}_shardings[{index}]{below}"
    parameters = _parameters(program)
    of = f" of {parameters[int(index)]}" if side == "in" and int(index) < len(parameters) else ""
    keys = _KEYS.findall(message)
    if what == "pytree metadata" and len(keys) >= 2:
        whose = "the argument" if side == "in" else "the result"
        return f"{where}{of} has the keys {keys[0]}, and {whose} {keys[1]}; one sharding for all of it fits as well."
    return f"{where}{of} is another tree; one sharding for all of it fits as well."


def _other(program: Program, jit: str, own: str, kind: str) -> str | None:
    names = [name for name, leaf in leaves(program.call) if str(getattr(leaf, "sharding", "")) == own.strip()]
    if not names:
        return None
    which = names[0] if len(names) == 1 else f"One of {', '.join(names[:4])}"
    return (
        f"{which} ({kind}) lies as {_short(own)}, and in_shardings of jit want {_short(jit)}: move it with "
        "jax.device_put, or leave in_shardings out."
    )


def _short(sharding: str) -> str:
    found = _SPEC.search(sharding)
    return found[1].replace(",)", ")") if found else sharding


def _parameters(program: Program) -> list[str]:
    """The names of the positional arguments that the call has, in their order."""
    call: Any = program.call
    try:
        names = list(signature_of(call.fn).bind(*call.args, **call.kwargs).arguments)
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"args[{at}]" for at in range(len(names), len(call.args)))]
