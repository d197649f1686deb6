"""Residuals: values of the forward pass that the backward pass needs, and those that a checkpoint policy would keep.

Read from the jaxpr: an equation whose name scope contains "transpose(" belongs to the backward pass, and a value that
it reads but does not compute is a residual. Sizes are of global arrays, before XLA fuses or removes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.ir.sources.source import cell_of, is_outside, is_user
from jaxstage_ext.report.frames import SourceFile
from jaxstage_ext.report.unavailable import Unavailable

BACKWARD = "transpose("
_SCOPED = ("jit", "pjit", "closed_call", "core_call", "scan", "remat", "checkpoint", "custom_jvp_call", "while", "cond")
_CALLS = ("jit", "pjit", "custom_jvp_call", "custom_vjp_call")


@dataclass(frozen=True)
class Residual:
    """A residual: what computes it ("argument" for an input), its shape, size in bytes and source line."""

    made_by: str
    shape: str
    size: int
    line: str

    @property
    def is_argument(self) -> bool:
        return self.made_by == "argument"


def read(traced: Any, policy: str | Callable[..., Any] | None = None) -> list[Residual]:
    """The residuals of a traced program; with a policy, those that `jax.checkpoint` would keep under it.

    Raises ValueError for an unknown policy name, Unavailable if the program has no backward pass.
    """
    chosen = None if policy is None else rematerialization.checkpoint_policy(policy)
    names = dict(zip(traced.jaxpr.jaxpr.invars, traced.jaxpr.jaxpr.debug_info.arg_names or (), strict=False))
    residuals: list[Residual] = []
    for jaxpr, read_back in _levels(traced.jaxpr.jaxpr):
        residuals += _kept(jaxpr, read_back, chosen, names)
    if not residuals:
        raise Unavailable("the program computes no derivative: no equation of a backward pass is in its jaxpr")
    return sorted(residuals, key=lambda residual: -residual.size)


def _levels(jaxpr: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each jaxpr with both a forward and a backward pass, and the forward values that the backward pass reads."""
    back = [BACKWARD in tracebacks.name_stack(eqn) for eqn in jaxpr.eqns]
    forward = [eqn for eqn, is_back in zip(jaxpr.eqns, back, strict=True) if not is_back]
    own = {*jaxpr.invars, *jaxpr.constvars, *(value for eqn in forward for value in eqn.outvars)}
    reads = (eqn.invars for eqn, is_back in zip(jaxpr.eqns, back, strict=True) if is_back)
    read_back = list(dict.fromkeys(v for atoms in reads for v in jaxprs.variables(atoms) if v in own))
    if read_back:
        yield jaxpr, read_back
    for eqn in forward:
        for inner in jaxprs.inner_jaxprs(eqn):
            yield from _levels(inner)


def _kept(
    jaxpr: Any, read_back: list[Any], policy: Callable[..., Any] | None, names: dict[Any, str]
) -> Iterator[Residual]:
    made = _makers(jaxpr.eqns)
    inputs, saved = [v for v in read_back if v not in made], [v for v in read_back if v in made]
    if policy is not None and (passes := rematerialization.passes_of(jaxpr)).wanted:
        free, saved, equations = jaxprs.split_by_policy(jaxpr, passes.forward, passes.wanted, policy)
        read = list(dict.fromkeys([*passes.given, *free]))
        inputs, saved = [v for v in read if v not in made], [*(v for v in read if v in made), *saved]
        made |= _makers(equations)
    for value in inputs:
        yield Residual("argument", *_sized(value), names.get(value, ""))
    for value in saved:
        eqn, i = made[value]
        yield Residual(_made_by(eqn), *_sized(value), _line(eqn, i))


def _made_by(eqn: Any) -> str:
    return (jaxprs.called(eqn) if eqn.primitive.name in _CALLS else "") or str(eqn.primitive.name)


def _makers(equations: list[Any]) -> dict[Any, tuple[Any, int]]:
    return {value: (eqn, i) for eqn in equations for i, value in enumerate(eqn.outvars)}


def _sized(value: Any) -> tuple[str, int]:
    aval = value.aval
    try:
        size = int(aval.size) * int(aval.dtype.itemsize)
    except (AttributeError, TypeError):
        size = 0
    return str(aval.str_short(short_dtypes=True)), size


def _line(eqn: Any, place: int) -> str:
    """The user's line that computes a result: that of the innermost nested equation that has one."""
    inner = _inside(eqn, place)
    return (_line(*inner) if inner else "") or _own_line(eqn)


def _inside(eqn: Any, place: int) -> tuple[Any, int] | None:
    """The equation inside a loop or call that computes a result, and the index among its results."""
    for jaxpr in jaxprs.inner_jaxprs(eqn)[:1] if eqn.primitive.name in _SCOPED else ():
        if place < len(jaxpr.outvars):
            wanted = _carried(eqn, jaxpr, jaxpr.outvars[place])
            return next(
                ((inner, i) for inner in jaxpr.eqns for i, value in enumerate(inner.outvars) if value is wanted), None
            )
    return None


def _carried(eqn: Any, jaxpr: Any, value: Any) -> Any:
    """What a scan's iteration carries over to the next one, where `value` is what it was given; else `value`."""
    if eqn.primitive.name != "scan" or not any(value is given for given in jaxpr.invars):
        return value
    carried = sum(map(_same_rank, eqn.outvars, jaxpr.outvars))
    constants = sum(map(_same_rank, eqn.invars, jaxpr.invars)) - carried
    place = next(i for i, given in enumerate(jaxpr.invars) if given is value) - constants
    return jaxpr.outvars[place] if 0 <= place < carried else value


def _same_rank(outer: Any, inner: Any) -> bool:
    """Whether a scan hands a value over whole; of what it scans over or stacks, an iteration has one slice."""
    return len(outer.aval.shape) == len(inner.aval.shape)


def _own_line(eqn: Any) -> str:
    for code, last in tracebacks.raw_frames(eqn):
        if is_user(code.co_filename) and not is_outside(code.co_filename):
            line = tracebacks.frame_position(code, last)[0]
            return f"{SourceFile(code.co_filename, cell_of(code.co_filename)).label}:{line}"
    return ""
