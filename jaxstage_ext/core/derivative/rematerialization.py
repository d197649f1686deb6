"""The program that `jax.checkpoint` around everything that is differentiated would give, under a policy.

It is built from the jaxpr, so that it does not matter where the user's function takes the derivative. The forward pass
are the equations whose name scope contains "jvp(" and that the backward pass needs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import jax

from jaxstage_ext.core.jax_private import jaxprs, rematerialized, tracebacks
from jaxstage_ext.core.stage.stage_definition import LOWER, TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import DONE, Stage, Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.report.unavailable import Unavailable

FORWARD, BACKWARD = "jvp(", "transpose("
_OF_DERIVATIVE = "jvp(transpose("
_NONE = "the program computes no derivative: no equation of a backward pass is in its jaxpr"
_NOTHING_TO_SAVE = (
    "the backward pass reads nothing that the forward pass computes, but the arguments: it is under jax.checkpoint "
    "already, or needs no more"
)
_OF_ANOTHER = (
    "a derivative is taken of what another derivative computes, and it is not known around which of them "
    "jax.checkpoint would stand"
)


@dataclass(frozen=True)
class PassesOfDerivative:
    """The equations of a jaxpr around a derivative, and what the backward pass reads."""

    forward: list[Any]
    """Those of the function that is differentiated that the backward pass needs."""
    backward: list[Any]
    """Its derivative."""
    others: list[Any]
    """All other equations."""
    wanted: list[Any]
    """Values of the forward pass that the backward pass reads."""
    given: list[Any]
    """Other values that it reads."""


def staged_with(staged: Staged, policy: str | Callable[..., Any]) -> Staged:
    """The call traced and lowered under a policy of `jax.checkpoint`, or its name in `jax.checkpoint_policies`.

    Raises ValueError for an unknown policy name, and Unavailable as `with_policy`.
    """
    chosen, traced = checkpoint_policy(policy), unwrap(staged.value(TRACE))
    if not isinstance(traced, jax.stages.Traced):
        raise Unavailable("the program was not traced by JAX, so it cannot be compiled with a policy")
    return lowered_anew(staged, with_policy(traced, chosen))


def lowered_anew(staged: Staged, made: Any) -> Staged:
    """The call with another `jax.stages.Traced`, lowered for its target."""
    layout = staged.call.layout
    if not staged.target.is_local:
        lowered = cross_compile.lower(made, staged.target)
    elif layout is not None and layout.is_abstract:
        lowered = cross_compile.lower(made, cross_compile.here(staged.target))
    else:
        lowered = made.lower()
    stages = [Stage(TRACE, DONE, value=made), Stage(LOWER, DONE, value=lowered)]
    return Staged(
        staged.call,
        stages,
        staged.target,
        staged.limits,
        environment=staged.environment,
        configured=staged.configured,
    )


def with_policy(traced: Any, policy: Callable[..., Any]) -> Any:
    """The `jax.stages.Traced` of the same call under a policy of `jax.checkpoint`.

    Raises Unavailable, with the reason, where there is no derivative, or none that `jax.checkpoint` can be put around.
    """
    found: list[PassesOfDerivative] = []

    def change(jaxpr: Any) -> Any:
        return _rewritten(jaxpr, policy, found)

    made = rematerialized.with_jaxpr(traced, change)
    if not any(passes.wanted for passes in found):
        raise Unavailable(_NOTHING_TO_SAVE if found else _NONE)
    return made


def _rewritten(jaxpr: Any, policy: Callable[..., Any], found: list[PassesOfDerivative]) -> Any:
    passes = passes_of(jaxpr)
    found += [passes] if passes.backward else []
    if not passes.wanted:
        backward = {id(eqn) for eqn in passes.backward}
        eqns = [
            eqn if id(eqn) in backward else rematerialized.with_inner(eqn, lambda own: _rewritten(own, policy, found))
            for eqn in jaxpr.eqns
        ]
        same = all(new is old for new, old in zip(eqns, jaxpr.eqns, strict=True))
        return jaxpr if same else rematerialized.with_equations(jaxpr, eqns, {})
    _check(passes)
    read = {v for eqn in passes.others for v in jaxprs.variables(eqn.invars)}
    read |= set(jaxprs.variables(jaxpr.outvars))
    used = [v for eqn in passes.forward for v in eqn.outvars if v in read]
    split = rematerialized.split_forward(passes.forward, passes.wanted, used, passes.given, jaxpr, policy)
    made = rematerialized.with_equations(jaxpr, _in_order(passes, split), split.outputs)
    if not rematerialized.is_well_formed(made):
        raise Unavailable(_OF_ANOTHER)
    return made


def passes_of(jaxpr: Any) -> PassesOfDerivative:
    """The equations of a jaxpr around a derivative; without one, all of them are `others`."""
    scopes = [tracebacks.name_stack(eqn) for eqn in jaxpr.eqns]
    backward = [eqn for eqn, scope in zip(jaxpr.eqns, scopes, strict=True) if BACKWARD in scope]
    own = {v for eqn in backward for v in eqn.outvars}
    read_back = dict.fromkeys(v for eqn in backward for v in jaxprs.variables(eqn.invars) if v not in own)
    needed, forward = set(read_back), []
    for eqn, scope in reversed(list(zip(jaxpr.eqns, scopes, strict=True))):
        if FORWARD in scope and BACKWARD not in scope and not needed.isdisjoint(eqn.outvars):
            forward.append(eqn)
            needed.update(jaxprs.variables(eqn.invars))
    forward.reverse()
    taken = {id(eqn) for eqn in (*forward, *backward)}
    made = {v for eqn in forward for v in eqn.outvars}
    wanted, given = [v for v in read_back if v in made], [v for v in read_back if v not in made]
    if not wanted:
        return PassesOfDerivative([], backward, list(jaxpr.eqns), [], [])
    return PassesOfDerivative(forward, backward, [eqn for eqn in jaxpr.eqns if id(eqn) not in taken], wanted, given)


def _check(passes: PassesOfDerivative) -> None:
    """Raise Unavailable for a derivative of a derivative, and where the forward pass has an effect to be repeated."""
    if any(_OF_DERIVATIVE in tracebacks.name_stack(eqn) for eqn in passes.backward):
        raise Unavailable(_OF_ANOTHER)
    for eqn in passes.forward:
        if eqn.effects:
            raise Unavailable(
                f"{eqn.primitive.name} has a side effect, which jax.checkpoint would have to repeat; leave it out to "
                "compile with a policy"
            )


def _in_order(passes: PassesOfDerivative, split: Any) -> list[Any]:
    """All equations, those that recompute directly before the backward pass."""
    after_forward = {v for eqn in passes.forward for v in eqn.outvars}
    after_backward = {v for eqn in passes.backward for v in eqn.outvars}
    before, between, after = [], [], []
    for eqn in passes.others:
        read = set(jaxprs.variables(eqn.invars))
        if not read.isdisjoint(after_backward):
            after.append(eqn)
            after_backward.update(eqn.outvars)
        elif not read.isdisjoint(after_forward):
            between.append(eqn)
            after_forward.update(eqn.outvars)
        else:
            before.append(eqn)
    outside = [[rematerialized.renamed(eqn, split.outputs) for eqn in eqns] for eqns in (between, after)]
    backward = [rematerialized.renamed(eqn, split.read_back) for eqn in passes.backward]
    return [*before, *split.known, *outside[0], *split.staged, *backward, *outside[1]]


POLICIES = ("nothing_saveable", "dots_with_no_batch_dims_saveable", "dots_saveable", "everything_saveable")
"""Names in `jax.checkpoint_policies`, from the fewest residuals to the most."""


def checkpoint_policy(given: str | Callable[..., Any]) -> Callable[..., Any]:
    """A policy, given itself or by its name. Raises ValueError for a name that is not one."""
    if callable(given):
        return given
    named = getattr(jax.checkpoint_policies, given, None) if isinstance(given, str) else None
    if callable(named):
        return cast(Callable[..., Any], named)
    near = difflib.get_close_matches(str(given), POLICIES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(POLICIES)}, and functions such as those"
    raise ValueError(f"{given!r} is not a policy of jax.checkpoint_policies; {hint}")
