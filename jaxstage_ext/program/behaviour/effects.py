"""What a program does beside computing its results: callbacks, ordered effects, host memory and work on the host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax

from jaxstage_ext.core import equation_runs, jaxpr_lines
from jaxstage_ext.core.equation_runs import Runs
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import effect_rules, persistent_cache, refs, sharding_internals
from jaxstage_ext.core.jax_private.given_objects import call_info
from jaxstage_ext.core.jax_private.sharding_internals import ProgramValue
from jaxstage_ext.program.behaviour.library_checks import LibraryCheck, check_of
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.equation_lines import frames_around, nearest_line, users_line
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.report.unavailable import Unavailable

_KERNELS = frozenset({"pallas_call", "core_map"})
"""What is in them runs in the kernel: its effects are reads and writes of its own memory."""
_OWN_DERIVATIVES = frozenset({"custom_jvp_call", "custom_vjp_call"})
"""What is in them is not differentiated: their own rules are."""
_ABSENT, _SEVERAL = "absent TPUs and GPUs", "several devices"
_DOES = {"Read": "reads", "Write": "writes", "Accum": "adds to"}
_OF_MEMORY = frozenset({"Read", "Write", "Accum", "InternalMutableArray"})
_OF_TRACING = frozenset({"NamedAxis"})
"""They tell JAX which axes are bound; the program that runs does nothing for them."""
NOT_DIFFERENTIABLE = frozenset({"pure_callback", "io_callback"})
_NONE = "No callbacks, no effects, and nothing on the host."
_PURE = "JAX may drop or repeat a pure_callback: it has no effect that JAX knows of."


@dataclass(frozen=True)
class _Found:
    eqn: Any
    operation: str
    effect: str
    calls: str
    refused: list[str]
    runs: Runs


@fact
def effects(program: Program) -> Table:
    """A row for each equation with an effect, each callback, and each move to or from the host's memory; then one for
    each argument or result in the host's memory.

    Columns: `operation`; `effect`, JAX's name of it; `what`: the function that is called, or where values go; `runs` in
    one call, unknown in a while loop or a branch; `not with`: what JAX refuses to combine it with; `line`; `row` of the
    jaxpr. Raises Unavailable where nothing was traced.
    """
    if (traced := program.jax_traced) is None:
        raise Unavailable(f"{program.name} was not traced by JAX, so its effects are unknown")
    rows = jaxpr_lines.rows(traced.jaxpr) if has_effects(program) else {}
    found = sorted(_found(program), key=lambda one: rows.get(id(one.eqn), -1))
    frame_of = jaxpr_lines.frame_reader(program.frame_table)
    around = frames_around(traced.jaxpr.jaxpr, [one.eqn for one in found], frame_of)
    frames = program.frame_table.freeze()
    own = [nearest_line(frames, at[0]) for at in around]
    lines = [users_line(frames, at) or line for at, line in zip(around, own, strict=True)]
    lines = _inferred(program, [rows.get(id(one.eqn), -1) for one in found], lines)
    values = effects_of_values(program)
    none = len(values)
    columns = {
        "operation": Column([*(one.operation for one in found), *(one.operation for one in values)]),
        "effect": Column(
            [*(one.effect for one in found), *(one.effect for one in values)],
            doc="JAX's name of the effect; those of one order run in turn",
        ),
        "what": Column(
            [*(one.calls for one in found), *(one.what for one in values)],
            doc="the Python function that is called, or where values go or lie",
        ),
        "runs": Column([*(None if one.runs[1] else one.runs[0] for one in found), *[1] * none], doc="in one call"),
        "not with": Column(
            [*(", ".join(one.refused) for one in found), *[""] * none], doc="what JAX does not combine it with"
        ),
        "line": Column([*lines, *[""] * none]),
        "row": Column([*(rows.get(id(one.eqn), -1) for one in found), *[-1] * none]),
    }
    remarks = {(row, "line"): "inferred" for row, line in enumerate(lines) if line and line != own[row]}
    reasons = {(row, "runs"): one.runs[1] for row, one in enumerate(found) if one.runs[1]}
    notes = (*_refusals(program, found, lines), *_notes(found, values))
    return Table("effects", columns, reasons, notes, remarks=remarks)


def _inferred(program: Program, rows: list[int], own: list[str]) -> list[str]:
    """The lines, where an equation has none of its own that which the jaxpr's document infers."""
    document = program.documents["jaxpr"]
    of_rows = [int(document.frame[row]) if 0 <= row < len(document.frame) else -1 for row in rows]
    return [
        line or (line_label(document.frames, frame) if frame >= 0 else "")
        for line, frame in zip(own, of_rows, strict=True)
    ]


def _refusals(program: Program, found: list[_Found], lines: list[str]) -> Iterator[str]:
    """What this call is refused for, before it is lowered."""
    target = program.target
    devices = max(
        (_devices(leaf) for leaf in jax.tree.leaves((program.call.args, dict(program.call.kwargs)))), default=1
    )
    if not target.is_local and target.platform in ("tpu", "cuda"):
        yield from _refused(
            found, lines, _ABSENT, f"{target} is not in this machine, and JAX lowers callbacks only for its own devices"
        )
    if devices > 1:
        yield from _refused(
            found, lines, _SEVERAL, f"the arguments are on {devices} devices, and ordered effects run on one"
        )


def _devices(leaf: Any) -> int:
    return int(getattr(getattr(leaf, "sharding", None), "num_devices", 1))


def _refused(found: list[_Found], lines: list[str], place: str, why: str) -> Iterator[str]:
    at = [line for one, line in zip(found, lines, strict=True) if place in one.refused]
    if at:
        named = list(dict.fromkeys(filter(None, at)))
        where = f" ({', '.join(named[:3])}{', …' if len(named) > 3 else ''})" if named else ""
        yield f"JAX will not lower this call: {why}{where}."


def _notes(found: list[_Found], values: Sequence[ValueEffect]) -> Iterator[str]:
    called = [one for one in found if _ABSENT in one.refused]
    if not found and not values:
        yield _NONE
    for one in values:
        yield f"{one.operation}: {one.what}."
    if called:
        yield f"{plural(len(called), 'callback')}: {_how_often(called)}."
    if len(found) > len(called):
        other = "other operation" if called else "operation"
        yield f"{plural(len(found) - len(called), other)} with effects or on the host."
    if any(one.operation == "pure_callback" for one in found):
        yield _PURE


def _how_often(called: list[_Found]) -> str:
    """How often Python is called in one run, as far as the values do not decide it."""
    is_known = not any(one.runs[1] for one in called)
    times = sum(one.runs[0] for one in called if not one.runs[1])
    if not is_known and not times:
        return "how often Python is called in one run depends on the values"
    return f"Python is called {'' if is_known else 'at least '}{plural(times, 'time')} in one run"


def has_effects(program: Program) -> bool:
    """Whether there is a jaxpr, and it has any of these."""
    return program.jax_traced is not None and _of_jaxpr(program)


@fact
def _of_jaxpr(program: Program) -> bool:
    traced = program.jax_traced
    if traced is None:
        return False
    return next(_found(program), None) is not None or bool(effects_of_values(program))


def callback_lines(program: Program) -> list[str]:
    """The source lines that call back into Python, each once."""
    if program.jax_traced is None:
        return []
    table = effects(program)
    calls = [line for line, refused in zip(table["line"], table["not with"], strict=True) if _ABSENT in refused]
    return list(dict.fromkeys(filter(None, calls)))


def callback_checks(program: Program) -> list[tuple[str, LibraryCheck | None]]:
    """The source line of each callback, and the check of a library that it is."""
    if (traced := program.jax_traced) is None:
        return []
    table, rows = effects(program), jaxpr_lines.rows(traced.jaxpr)
    line_of = dict(zip(table["row"], table["line"], strict=True))
    found = [one for one in _found(program) if _ABSENT in one.refused]
    around = frames_around(
        traced.jaxpr.jaxpr, [one.eqn for one in found], jaxpr_lines.frame_reader(program.frame_table)
    )
    frames = program.frame_table.freeze()
    checks = [check_of(one.eqn, [at for at in of if at >= 0], frames) for one, of in zip(found, around, strict=True)]
    return [(line_of.get(rows.get(id(one.eqn), -1), ""), check) for one, check in zip(found, checks, strict=True)]


def _found(program: Program) -> Iterator[_Found]:
    jaxpr, touched = program.jax_traced.jaxpr.jaxpr, _touched(program)
    differentiated: set[int] | None = None
    for eqn, runs in equation_runs.equation_runs(jaxpr, _KERNELS):
        for name, effects_of in touched.get(id(eqn), {}).items():
            what = " and ".join(_DOES[effect] for effect in sorted(effects_of))
            named = ", ".join(sorted(effects_of))
            yield _Found(eqn, eqn.primitive.name, named, f"{what} {name}, a Ref of the caller's", [], runs)
        kind = effect_rules.callback_kind(eqn)
        if kind in NOT_DIFFERENTIABLE and differentiated is None:
            differentiated = {id(one) for one, _ in equation_runs.equation_runs(jaxpr, _KERNELS | _OWN_DERIVATIVES)}
        if kind:
            yield _callback(eqn, kind, runs, id(eqn) in (differentiated or ()))
        elif (place := _host_place(eqn)) is not None:
            yield _Found(eqn, eqn.primitive.name, "", place, [], runs)
        elif eqn.primitive.name in ("new_ref", "mutable_array"):
            yield _Found(
                eqn, eqn.primitive.name, "mutable array", "an array that the program writes in place", [], runs
            )
        elif not _holds_jaxprs(eqn):
            yield from _other(eqn, runs)


def _touched(program: Program) -> refs.Accesses:
    """The equations that read or write Refs which outlive the call."""
    traced = program.jax_traced
    names = argument_names(program.call, call_info(traced).arguments)
    return refs.accesses(traced.jaxpr, names, captured.namer(program.call.fn), _KERNELS)


def _callback(eqn: Any, kind: str, runs: Runs, is_differentiated: bool) -> _Found:
    refused = [place for effect in eqn.effects for place in effect_rules.refusing_places(effect)]
    refused += ["grad"] if kind in NOT_DIFFERENTIABLE and is_differentiated else []
    refused += ["vmap"] if kind == "io_callback" and any(map(effect_rules.is_ordered, eqn.effects)) else []
    refused += [_ABSENT, "jax.export"]
    refused += [] if persistent_cache.writes_callbacks() else ["the persistent cache"]
    name = ", ".join(map(effect_rules.name, eqn.effects))
    calls = effect_rules.called_by(eqn)
    return _Found(eqn, kind, name, f"prints {calls}" if kind == "debug_print" else f"calls {calls}", refused, runs)


def _host_place(eqn: Any) -> str | None:
    """Where the values of an equation go, or that it runs on the host; None for what the device does in its memory."""
    if (kind := effect_rules.compute_type(eqn)) and eqn.primitive.name != "compute_on":
        return "runs on the host" if "host" in kind else f"runs on {kind}"
    if eqn.primitive.name != "device_put":
        return None
    goes = [effect_rules.on_host(device) for device in eqn.params["devices"]]
    comes = [effect_rules.on_host(var.aval.memory_space) for var in eqn.invars if hasattr(var.aval, "memory_space")]
    if any(goes):
        return "to the host's memory"
    return "from the host's memory" if any(comes) else None


def _holds_jaxprs(eqn: Any) -> bool:
    return bool(equation_runs.inner_of(eqn))


def _other(eqn: Any, runs: Runs) -> Iterator[_Found]:
    named = [effect for effect in eqn.effects if effect_rules.name(effect) not in _OF_MEMORY | _OF_TRACING]
    if named:
        refused = [place for effect in named for place in effect_rules.refusing_places(effect)]
        yield _Found(eqn, eqn.primitive.name, ", ".join(map(effect_rules.name, named)), "", refused, runs)


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
