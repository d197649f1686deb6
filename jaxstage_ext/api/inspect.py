"""`inspect`: a call, taken through JAX's stages, and the Inspection of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import given_call as given_checks
from jaxstage_ext.core.given.given_call import given_call, given_object
from jaxstage_ext.core.layout import meshes, specs
from jaxstage_ext.core.options import environment_check, option_sets
from jaxstage_ext.core.options.option_sets import OptionSet
from jaxstage_ext.core.stage import stage_list, stages
from jaxstage_ext.core.stage.stage_error import reworded, without_our_frames
from jaxstage_ext.core.stage.stageable import with_self
from jaxstage_ext.core.targets import cross_compile, prepared
from jaxstage_ext.core.targets.target import LOCAL, Target, parse_all
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.program.comparing.earlier import beside, by_label
from jaxstage_ext.program.mistakes.explained_error import error_explanation
from jaxstage_ext.program.program import Program

Targets = str | Target | Iterable[str | Target]


def inspect(
    fn: Callable[..., Any],
    *args: Any,
    stage: str = "compile",
    target: Targets = "local",
    compiler_options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    mesh: Any = None,
    in_specs: Any = (),
    out_specs: Any = None,
    isolate: bool | None = None,
    **kwargs: Any,
) -> Inspection:
    """Take `fn(*args, **kwargs)` through JAX's stages without running it.

    Args:
      fn: a function, a `jax.jit` object, or anything with `.trace` or `.lower`. Or what JAX made of one: a Traced,
        Lowered or Compiled of `jax.stages`, a `jax.export.Exported` or a ClosedJaxpr, which starts at its own stage.
      *args: arrays, `jax.ShapeDtypeStruct`s or pytrees of them. What JAX made has its own; a Compiled may be given
        those of a call, an Exported those whose sizes its symbolic axes take.
      stage: the last stage to run: "trace", "lower" or "compile".
      target: the target to compile for: "local", "cpu:8", "v5e:4x4", "h100:8", or a list of them. The Inspection is
        that of the first; its `targets` has all of them.
      compiler_options: XLA flags for the compile stage, by name, with or without the "xla_" prefix; or a list of such
        dicts, each of which it is compiled with, beside each other in `compare()` and `targets`.
      mesh: the mesh of the target's devices, which need not be in this machine: "data=4,model=2", a dict of such
        sizes, or a JAX mesh. The axes of a text or a dict are automatic.
      in_specs: PartitionSpecs of the arguments on `mesh`: a tuple in the order of the arguments, a dict by parameter
        name, or a single spec for every argument; each a prefix of its argument's pytree. None, or left out, is
        unspecified, as in `jax.jit`.
      out_specs: PartitionSpecs of the result on `mesh`, as `out_shardings` of `jax.jit`.
      isolate: whether a worker process compiles for "local" too, with a memory limit: True does so for every program,
        False for none, None for those with more StableHLO operations than `%config JAXStage.large_program`. What a
        worker compiles is shown in full, but cannot be run. A kernel with an accelerator compiles in itself.
      **kwargs: keyword arguments, like `args`. Bind an argument of `fn` that has the name of a parameter of `inspect`
        with `functools.partial`.

    Raises:
      ValueError: for an unknown `stage`; an unknown `target`, or one that needs a package that is not installed; an
        unknown compile option, an invalid value, or options with a `stage` before compile; a mesh that is larger than
        a target; a PartitionSpec that does not fit the mesh or its argument; XLA_FLAGS that XLA does not survive.
      Exception: what JAX raises for the function on the first target, without the frames of this package. Its
        attribute `inspection` has the stages that succeeded.
    """
    environment_check.check()
    compiled = stage_list.makes_executable(stage)
    if compiler_options and not compiled:
        raise ValueError(
            f"compiler_options need the compile stage, and stage={stage!r} stops before it; drop one of them"
        )
    sets, targets = option_sets.checked(compiler_options), parse_all(target)
    targets, limits = _isolated(targets, isolate)
    checked = sets[0].options
    given = given_object(fn, args, kwargs)
    if given is not None:
        given_checks.check(given, stage, checked, has_mesh=mesh is not None)
        return _inspected(given_call(given, compiler_options=checked), stage, targets, limits, sets)
    layout = meshes.layout(mesh, in_specs, out_specs, targets, compiled)
    call = Call(fn, args, kwargs, compiler_options=checked, layout=layout)
    specs.check(call)
    return _inspected(call, stage, targets, limits, sets)


def _isolated(targets: tuple[Target, ...], isolate: bool | None) -> tuple[tuple[Target, ...], Limits]:
    """The targets and limits that the argument of `inspect` means. Raises TypeError for what is not a bool."""
    if isolate is not None and not isinstance(isolate, bool):
        raise TypeError(f"isolate must be True, False or None, not {isolate!r}")
    if isolate:
        return tuple(map(cross_compile.isolated, targets)), USUAL
    return targets, Limits(large_here=isolate is False)


def _inspected(
    call: Call, stage: str, targets: Sequence[Target], limits: Limits, sets: Sequence[OptionSet]
) -> Inspection:
    """The Inspection of a call. Raises what a stage of it raises."""
    inspection = run(call, stage, targets=targets, limits=limits, sets=sets)
    if inspection.error is not None and (error := inspection.error.exception) is not None:
        error.inspection = inspection  # type: ignore[attr-defined]
        raise without_our_frames(reworded(error, error_explanation(inspection.program)))
    return inspection


def run(
    call: Call,
    stage: str = "compile",
    on_change: Callable[[Inspection], None] | None = None,
    targets: Sequence[Target] = (LOCAL,),
    limits: Limits = USUAL,
    sets: Sequence[OptionSet] = (),
) -> Inspection:
    """The Inspection of a call for its first target; a stage that fails is recorded, not raised.

    `on_change` is called when a stage starts and when it ends.
    """
    inspections = prepare(call, stage, targets, limits, sets)
    for inspection in inspections:
        inspection.advance(functools.partial(on_change, inspection) if on_change else _nothing)
        if inspection.error is not None and inspection.error.interrupted:
            break
    return inspections[0]


def _nothing() -> None:
    pass


def prepare(
    call: Call,
    stage: str,
    targets: Sequence[Target] = (LOCAL,),
    limits: Limits = USUAL,
    option_sets: Sequence[OptionSet] = (),
    earlier: tuple[str, Inspection] | None = None,
) -> tuple[Inspection, ...]:
    """An Inspection for each target and set of compile options, nothing of it done yet.

    `earlier` is one that it is compared with, and what that is called. Raises TargetError where a package is missing.
    """
    for target in targets if stage_list.makes_executable(stage) else ():
        cross_compile.check(target)
    if stage_list.makes_executable(stage):
        prepared.start(targets)
    planned = stages.plan_each(with_self(call), stage, targets, limits, option_sets)
    programs = [Program(staged) for staged in planned]
    if earlier is None:
        return Inspection.each(by_label(programs))
    name, before = earlier
    return Inspection.each(beside(programs, before.program, name))
