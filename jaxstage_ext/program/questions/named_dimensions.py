"""The named dimensions of a program, and what splitting each of them alone costs: no mesh and no compile is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass, classes_of_values, dimension_classes
from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.analysis.sharding.naming import split_alone
from jaxstage_ext.analysis.sharding.naming.argument_parts import argument_parts
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_candidates import NamingSources
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension, name_dimensions, renamed
from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions
from jaxstage_ext.analysis.sharding.naming.einsum_letters import einsum_letters
from jaxstage_ext.analysis.sharding.naming.jaxpr_axes import JaxprAxis, MadeValues, jaxpr_axes
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.fact import fact, slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import partitioner_of
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def named_dimensions(program: Program, progress: Progress | None) -> tuple[NamedDimension, ...]:
    """The named dimensions, in the order of the arguments, by the names that we give them; costs nothing but a worker.

    Raises Unavailable where nothing was lowered, and where XLA's partitioner does not take the program.
    """
    return name_dimensions(_classes(program), _sources(program))


@fact
def given_names(program: Program) -> dict[str, str]:
    """The author's names for dimensions of the program, by the names or numbers that we give; `give_names` adds."""
    return {}


def give_names(program: Program, names: Mapping[str, str]) -> None:
    """Let all views call dimensions as the author does, `{"d3": "hidden"}`. Raises UnknownDimension, changes nothing
    then.
    """
    known = given_names(program)
    named = renamed(named_dimensions(program), known)
    renamed(named, names)
    numbers = {one.name: one.number for one in named} | {one.number: one.number for one in named}
    known.update({numbers[old]: new for old, new in names.items()})


def dimensions(program: Program, progress: Progress | None = None, costs: bool = True) -> Dimensions:
    """The named dimensions by the author's names, with what splitting each alone costs; or quickly, without `costs`.

    Raises Unavailable where nothing was lowered, and where XLA's partitioner does not take the program.
    """
    if costs or dimension_costs.is_known(program):
        found = dimension_costs(program, progress)
    else:
        found = _with_costs(program, named_dimensions(program, progress), {})
    names = given_names(program)
    return found.renamed(names) if names else found


def known_dimensions(program: Program) -> Dimensions | None:
    """The same if it was computed already, else None. Computes nothing."""
    return dimensions(program) if dimension_costs.is_known(program) else None


@slow_fact
def dimension_costs(program: Program, progress: Progress | None) -> Dimensions:
    """The named dimensions by our names, with what splitting each alone costs. Raises Unavailable."""
    named = named_dimensions(program, progress)
    costs = _costs(
        partitioner_of(program).partitioner, named, target_devices(program), _switches_reduce(program), progress
    )
    return _with_costs(program, named, costs)


def _with_costs(program: Program, named: tuple[NamedDimension, ...], costs: Mapping[str, SplitCost]) -> Dimensions:
    module = partitioner_of(program).module
    lost = sum(one.size is None for one in _classes(program))
    arguments, devices = tuple(_sources(program).arguments), target_devices(program)
    return Dimensions(program.name, named, arguments, module.ops, costs, devices, lost, bool(module.constraints))


@slow_fact
def axes_in_jaxpr(program: Program, progress: Progress | None) -> tuple[JaxprAxis, ...]:
    """Where sizes stand in the jaxpr, and which dimension each is of, by its place among `named_dimensions`.

    What is not certain is left out. Raises Unavailable where there are no named dimensions.
    """
    named, found = named_dimensions(program, progress), partitioner_of(program)
    if (document := program.documents.get("jaxpr")) is None:
        return ()
    place = {number: at for at, one in enumerate(named) for number in one.classes}
    axes = [tuple(place.get(number, -1) for number in each) for each in classes_of_values(found.module)]
    leaves = {leaf: axes[value] for leaf, value in zip(found.leaves, found.module.arguments, strict=True)}
    arguments = [leaves.get(leaf) for leaf in range(_leaf_count(program))]
    return jaxpr_axes(document, arguments, MadeValues(found.module, axes))


def _leaf_count(program: Program) -> int:
    return len(_signature(program).arguments)


def target_devices(program: Program) -> int:
    """How many devices a dimension is split over: the target's, or those that the program runs on; 1 for one."""
    return program.target.devices or program_devices.device_count(program)


def _switches_reduce(program: Program) -> bool:
    return program_devices.links(program, program_devices.device_places(program)).reduces


@fact
def _classes(program: Program) -> tuple[DimensionClass, ...]:
    return dimension_classes(partitioner_of(program).module)


def _costs(
    partitioner: Partitioner,
    named: Sequence[NamedDimension],
    devices: int,
    reduces: bool,
    progress: Progress | None,
) -> dict[str, SplitCost]:
    over = {one.number: split_alone.devices_for(one.size, devices) for one in named}
    even = [one for one in named if over[one.number] and one.size % over[one.number] == 0]
    layouts = [split_alone.layout(one, partitioner.module, over[one.number]) for one in even]
    answers = partitioner.partition(layouts, progress)
    costs = {one.number: SplitCost(0, (), wording.uneven(one.size, over[one.number])) for one in named}
    for one, answer in zip(even, answers, strict=True):
        costs[one.number] = (
            replace(costs[one.number], why=answer.reason)
            if isinstance(answer, Unavailable)
            else split_alone.cost(answer, reduces)
        )
    return costs


@fact
def _sources(program: Program) -> NamingSources:
    """What the names are made of."""
    found = partitioner_of(program)
    module, names = found.module, _argument_names(program, found.leaves)
    arguments, results = (
        tuple(
            NamedLeaf(name or f"token {at}", module.values[value].shape)
            for at, (name, value) in enumerate(zip(side, values, strict=True))
        )
        for side, values in ((names, module.arguments), (found.results, module.results))
    )
    letters = einsum_letters(module, _classes(program))
    op_names = [op.name.rpartition(".")[2] for op in module.ops]
    parts = argument_parts(arguments, results, module, _classes(program))
    return NamingSources(arguments, results, parts.parameters, letters, {}, op_names, parts.rows, parts.simulated)


def _argument_names(program: Program, leaves: Sequence[int | None]) -> list[str]:
    """The author's names of the module's arguments, given the leaf of the call that each is; "" of a token."""
    names = argument_names(program.call, _signature(program).arguments)
    return ["" if leaf is None else names[leaf] for leaf in leaves]


def _signature(program: Program) -> lowered_modules.Signature:
    return lowered_modules.signature(program.jax_traced, program.jax_lowered, captured.namer(program.call.fn))
