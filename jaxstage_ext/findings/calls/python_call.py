"""Python functions that run in every call: those that flatten pytree nodes, and hashes of static arguments."""

from __future__ import annotations

import functools
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import python_nodes, tracing
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.calls import library_call
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.behaviour.python_work import PythonWork, python_work
from jaxstage_ext.program.head.call_arguments import call_arguments
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

LEAST = 100e-6
"""Seconds of a call below which Python is not worth a change."""
_HIDDEN = 3
"""How many times as long the device takes at least, so that it is never waiting for Python."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the pytree nodes, and one for each static argument whose hash takes long."""
    work = python_work(program)
    if work is None:
        return library_call.find(program)
    if work.seconds < LEAST or _is_hidden(program, work):
        return []
    return [*_of_nodes(program, work), *_of_statics(program, work)]


def _is_hidden(program: Program, work: PythonWork) -> bool:
    device = stakes.figure(program, StakeMeasure.TIME)
    return device is not None and device > _HIDDEN * work.seconds


def _of_nodes(program: Program, work: PythonWork) -> list[Finding]:
    gained = work.nodes.seconds - work.nodes.as_leaves
    if not work.arguments or gained < LEAST:
        return []
    arguments = [argument.name for argument in call_arguments(program)]
    code = wording.flatten_once(program.name, work.arguments, arguments, tracing.jit_options(program.call.fn))
    has_shardings = bool(tracing.own_shardings(program.call.fn))
    return [
        Finding(
            FindingKind.PYTHON_CALL,
            wording.flattens(work.nodes.flattened, work.arguments, work.nodes.seconds, work.nodes.as_leaves),
            Stake(StakeMeasure.HOST, None, gained),
            names=work.arguments,
            change=CodeChange(code, stage=None if has_shardings else staged_changes.of_call(of_leaves)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.BUILT_TOO if work.nodes.built else wording.HIDDEN_BY_THE_DEVICE,
        )
    ]


def _of_statics(program: Program, work: PythonWork) -> list[Finding]:
    return [
        Finding(
            FindingKind.PYTHON_CALL,
            wording.hashes(one.name, one.type, one.seconds),
            Stake(StakeMeasure.HOST, None, one.seconds),
            names=(one.name,),
            change=CodeChange(wording.bind_once(program.name, one.name)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.HIDDEN_BY_THE_DEVICE,
        )
        for one in work.hashed
        if one.seconds >= LEAST and one.name
    ]


def of_leaves(call: Call) -> Call:
    """The call of a function that takes the leaves of each pytree that Python flattens, in a list."""
    options = tracing.jit_options(call.fn)
    static, count = options.get("static_argnums", ()), len(call.args)
    static = {number % count for number in static if -count <= number < count}
    trees: dict[int | str, Any] = {}
    args, kwargs = list(call.args), dict(call.kwargs)
    for at, value in enumerate(args):
        if at not in static and python_nodes.has_any(value):
            args[at], trees[at] = jax.tree_util.tree_flatten(value)
    for name, value in kwargs.items():
        if name not in options.get("static_argnames", ()) and python_nodes.has_any(value):
            kwargs[name], trees[name] = jax.tree_util.tree_flatten(value)

    function: Any = call.fn

    @functools.wraps(function)
    def flat(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict[Any, Any](enumerate(args)), **kwargs}
        made = {key: jax.tree_util.tree_unflatten(trees[key], v) if key in trees else v for key, v in given.items()}
        return function.__wrapped__(*(made[at] for at in range(len(args))), **{name: made[name] for name in kwargs})

    return Call(jax.jit(flat, **options), tuple(args), kwargs, call.name, cell=call.cell, texts=call.texts)


DETECTOR = Detector(FindingKind.PYTHON_CALL, find, is_traced)
