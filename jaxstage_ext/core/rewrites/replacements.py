"""A jaxpr with results of some of its equations computed in another way from values that are known before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import jaxpr_edits, jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.report.unavailable import Unavailable

_WRITER = EquationWriter()


class Replacement(NamedTuple):
    """An equation whose only result can be computed in another way."""

    equation: Any
    source: Any
    """The equation that nothing reads then, which is what costs."""
    reads: tuple[Any, ...]
    """The values that the other way reads."""
    compute: Callable[..., Any]


class ReplacementSite(NamedTuple):
    """A replacement, and how often it runs in one run of the program; None where a loop of unknown length holds it."""

    replacement: Replacement
    runs: int | None


class Form(NamedTuple):
    """What finds replacements of one form."""

    find: Callable[[Any], list[Replacement]]
    """Among the equations of one jaxpr."""
    inlines: bool = True
    """Whether the equations of jitted functions stand in place of their calls."""


def sites(jaxpr: Any, form: Form) -> list[ReplacementSite]:
    """All of them, at any depth."""
    return list(_sites(jaxpr, form, 1))


def _sites(jaxpr: Any, form: Form, runs: int | None) -> Iterator[ReplacementSite]:
    body = _body(jaxpr, form)
    yield from (ReplacementSite(one, runs) for one in _found(body, form))
    for eqn, held in jaxprs.holders(body):
        if not eqn.primitive.name.startswith("custom_"):
            for inner in held:
                yield from _sites(inner, form, _times(runs, eqn))


def _found(body: Any, form: Form) -> list[Replacement]:
    """Those whose source nothing else computes too, as XLA computes it once then, and it stays."""
    found = form.find(body)
    sources = {id(one.source) for one in found}
    kept = {_what(eqn) for eqn in body.eqns if id(eqn) not in sources} if found else set()
    return [one for one in found if _what(one.source) not in kept]


def _what(eqn: Any) -> tuple[str, str, Any]:
    first = eqn.invars[0] if eqn.invars and not jaxprs.is_literal(eqn.invars[0]) else None
    return eqn.primitive.name, jaxprs.called(eqn), first


def _body(jaxpr: Any, form: Form) -> Any:
    return jaxpr_edits.inlined(jaxpr) if form.inlines else jaxpr


def _times(runs: int | None, eqn: Any) -> int | None:
    if eqn.primitive.name == "scan":
        return None if runs is None else runs * int(eqn.params["length"])
    return None if eqn.primitive.name in ("while", "cond") else runs


def replaced(jaxpr: Any, form: Form) -> Any:
    """The jaxpr with all of them replaced. Raises Unavailable where there is none."""
    if not sites(jaxpr, form):
        raise Unavailable("no equation of it has the form that another can replace")
    return _rewritten(jaxpr, form)


def _rewritten(jaxpr: Any, form: Form) -> Any:
    if not sites(jaxpr, form):
        return jaxpr
    body = _body(jaxpr, form)
    found = {id(one.equation): one for one in _found(body, form)}

    def results(eqn: Any, read: Callable[[Any], Any]) -> list[Any]:
        if (instead := found.get(id(eqn))) is not None:
            return [instead.compute(*map(read, instead.reads))]
        is_custom = eqn.primitive.name.startswith("custom_")
        changed = eqn if is_custom else rematerialized.with_inner(eqn, lambda inner: _rewritten(inner, form))
        return _WRITER.apply(changed, list(map(read, eqn.invars)), None)

    return traced_anew(jaxpr, lambda arrays: jaxprs.evaluated(body, arrays, results))


def uses(jaxpr: Any) -> dict[Any, list[Any]]:
    """The equations that read each value; a result of the jaxpr is read by None."""
    read = jaxprs.readers(jaxpr)
    for atom in jaxprs.variables(jaxpr.outvars):
        read.setdefault(atom, []).append(None)
    return read
