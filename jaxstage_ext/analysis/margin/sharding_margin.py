"""The sharding of each value beside the line that computes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Chains, Lane, Mark, Site
from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.propagation import Chooser, Propagated
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, ShardedValue, intermediates
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED, Sharding
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames

_NOTHING = (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"while", b"conditional", b"call")
_IN_ORDER = "Inferred: equal lines were matched in order."
_INFERRED = "Inferred from the name and shape of the instruction."


@dataclass(frozen=True)
class MarginInputs:
    """The shardings of a program and the documents that they are shown in."""

    frames: Frames
    documents: Mapping[str, Document]
    values: Sequence[ShardedValue]
    """Its arguments and results."""
    propagated: Propagated | None = None
    """The module that the partitioner gets, None unknown."""
    optimised: tuple[Module, Places] | None = None
    """The optimised module and the places of its instructions, None without one."""
    definition: tuple[str, int] | None = None
    """File and line where the function begins."""
    notes: tuple[str, ...] = ()
    chains: Chains = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chains", Chains(self.frames))


def lane(program: MarginInputs) -> Lane:
    """The sharding marks of every document."""
    module = program.propagated
    made = list(zip(module.rows.tolist(), intermediates(module), strict=True)) if module else []
    known: dict[LabelKey, Mark] = {}
    arrays = [(row, value, _remembered(known, value)) for row, value in made if value.map.shape]
    marks = {kind: dict(_edges(program, document)) for kind, document in program.documents.items()}
    for kind in ("jaxpr", "stablehlo"):
        if module and kind in marks:
            marks[kind] |= _at_sites(
                line_values.sites(program.documents[kind], program.chains), module, arrays, program
            )
    if "python" in marks:
        marks["python"] |= _of_source(program.documents["python"], arrays, module, marks["python"])
    if "hlo" in marks and program.optimised:
        marks["hlo"] |= _of_optimised(program, *program.optimised, arrays)
    return Lane(marks, program.notes)


def _remembered(known: dict[LabelKey, Mark], value: ShardedValue) -> Mark:
    key = label_key(value)
    return known.get(key) or known.setdefault(key, sharding_mark(value))


def _edges(program: MarginInputs, document: Document) -> list[tuple[int, Mark]]:
    """The marks of arguments and results, on the lines that hold all of them."""
    arguments = [value for value in program.values if value.kind == ARGUMENT]
    results = [value for value in program.values if value.kind != ARGUMENT]
    first, last = _rows_of_edges(program, document)
    marks = [(first, together(arguments, "arguments"))] if arguments and first >= 0 else []
    return marks + ([(last, together(results, "results"))] if results and last >= 0 else [])


def _rows_of_edges(program: MarginInputs, document: Document) -> tuple[int, int]:
    if document.kind == "jaxpr":
        return 0, next((row for row in range(len(document) - 1, -1, -1) if document.lines[row].strip()), -1)
    if document.kind == "stablehlo":
        main = next((row for row, line in enumerate(document.lines) if "func.func public @main(" in line), -1)
        ends = (row for row, line in enumerate(document.lines) if row > main >= 0 and line.startswith("    return"))
        return main, next(ends, -1)
    if document.kind == "python" and program.definition is not None:
        file, line = program.definition
        where = next((source.label for source in document.frames.files if source.name == file), "")
        return line_values.rows_by_line(document).get(f"{where}:{line}", -1), -1
    return -1, -1


Made = Sequence[tuple[int, ShardedValue, Mark]]
"""The arrays of the propagated module: row, value, mark."""


def _at_sites(sites: Sequence[Site], module: Propagated, arrays: Made, program: MarginInputs) -> dict[int, Mark]:
    """Marks by primitive, shape and call stack; by the innermost line alone where that gives none."""
    marked: dict[int, Mark] = {}
    for which in (0, 1):
        left = [site for site in sites if site.row not in marked and (site.chain, site.place)[which] >= 0]
        rows = [(site.row, (site.op, site.dims, site.backward, (site.chain, site.place)[which])) for site in left]
        marks = [
            (mark_of_value, (module.names[row], value.map.shape, _is_backward(module, row), where[which]))
            for row, value, mark_of_value in arrays
            for where in [program.chains.of(module.frame[row])]
        ]
        marked |= {row: _settled(those, in_order) for row, those, in_order in line_values.paired(rows, marks)}
    return marked


def _is_backward(module: Propagated, row: int) -> bool:
    number = int(module.ops.scope[row])
    return number >= 0 and line_values.is_backward(module.ops.scopes[number])


def _settled(marks: tuple[Mark, ...], in_order: bool) -> Mark:
    """One mark for a line that has several."""
    labels = list(dict.fromkeys(mark_of_value.label for mark_of_value in marks))
    if len(labels) == 1:
        return marks[-1]._replace(text=f"{marks[-1].text}\n{_IN_ORDER}") if in_order else marks[-1]
    first_lines = [mark_of_value.text.split("\n")[0] for mark_of_value in marks]
    return Mark(
        f"{len(labels)} ways", SEVERAL, line_values.listed(["Its values have several shardings:", *first_lines])
    )


def _of_source(
    document: Document, arrays: Made, module: Propagated | None, marked: Mapping[int, Mark]
) -> dict[int, Mark]:
    """Marks by source line; broadcast scalars count only where a line computes nothing else."""
    by_line: dict[str, tuple[list[ShardedValue], list[ShardedValue]]] = {}
    for row, value, _ in arrays if module else ():
        assert module is not None
        by_line.setdefault(module.line(row), ([], []))[_is_spread(module.ops, row)].append(value)
    rows = line_values.rows_by_line(document)
    here = {rows[line]: on_line for line, on_line in by_line.items() if line in rows and rows[line] not in marked}
    return {row: together(made or spread) for row, (made, spread) in here.items()}


def _is_spread(ops: Module, row: int) -> bool:
    source = ops.operands[row][0] if ops.opcode[row] == b"broadcast" else -1
    return source >= 0 and not ops.shapes.rank[source]


Part = tuple[str, tuple[int, ...]]


def _of_optimised(program: MarginInputs, ops: Module, places: Places, arrays: Made) -> dict[int, Mark]:
    """Marks of parameters by name, and of other instructions by scope and the shape of a shard.

    For a sum over devices only the sum and what follows it are marked: what precedes it is partial.
    """
    document = program.documents["hlo"]
    named = {value.name: sharding_mark(value) for value in program.values if value.kind == ARGUMENT}
    parts, sums = _parts(program.propagated, arrays), _sums(document, ops, places)
    marked: dict[int, Mark] = {}
    for instruction in np.flatnonzero(places.row >= 0).tolist():
        row, opcode = int(places.row[instruction]), ops.opcode[instruction]
        scope = document.scope_name(row)
        candidates: list[Mark] = []
        if opcode == b"parameter" and ops.computation[instruction] == ops.entry:
            candidates = [named[name] for name in [scope.replace("\\'", "'")] if name in named]
        elif opcode not in _NOTHING and row >= sums.get(scope, 0):
            candidates = list(parts.get((scope, tuple(ops.shapes.sizes(instruction))), {}).values())
        if len(candidates) == 1:
            marked[row] = candidates[0]
    return marked


def _parts(module: Propagated | None, arrays: Made) -> dict[Part, dict[str, Mark]]:
    """The distinct marks by scope and the shape of a shard."""
    parts: dict[Part, dict[str, Mark]] = {}
    for row, value, mark_of_value in arrays if module else ():
        assert module is not None
        scope, shard = int(module.ops.scope[row]), value.map.shard_shape
        if scope >= 0 and shard is not None:
            by_label = parts.setdefault((module.ops.scopes[scope], shard), {})
            if mark_of_value.label not in by_label:
                by_label[mark_of_value.label] = mark_of_value._replace(text=f"{mark_of_value.text}\n{_INFERRED}")
    return parts


def _sums(document: Document, ops: Module, places: Places) -> dict[str, int]:
    """The first row of a sum over devices, by scope."""
    rows = places.row[ops.rows(b"all-reduce", b"all-reduce-start", b"reduce-scatter")]
    return {document.scope_name(row): row for row in sorted(rows[rows >= 0].tolist(), reverse=True)}


NOBODY, SEVERAL = "nobody", "several"
"""Kinds of marks beside those named after who chose the sharding."""
_CHOSEN = {
    Chooser.YOU: "chosen by you",
    Chooser.COMPILER: "chosen by the compiler",
    Chooser.JAX: "chosen by JAX, from the types of an explicit mesh",
    Chooser.COMMITTED: "where the committed arguments are",
    Chooser.DEFAULT: "on the default device",
    None: "not chosen yet",
}


def short(sharding: Sharding) -> str:
    """A sharding in a few characters: the mesh axes of each dimension, "·" for none; "replicated" without any."""
    if not sharding.is_known:
        return "?"
    if sharding.devices == 1:
        return "one device"
    if sharding.axes is None:
        cut = "×".join(map(str, sharding.tiles)) if any(count > 1 for count in sharding.tiles) else "replicated"
    elif any(sharding.axes):
        cut = ",".join("+".join(map(str, dim)) or "·" for dim in sharding.axes)
    else:
        cut = "replicated"
    if sharding.shared(MANUAL) > 1:
        return "per device" if cut == "replicated" else f"{cut} per device"
    return f"{cut} sums" if sharding.shared(UNREDUCED) > 1 else cut


def sharding_mark(value: ShardedValue) -> Mark:
    """The mark of a line that computes one value."""
    sharding = value.map.sharding
    lines = [f"{sharding.spec}: {_CHOSEN[value.chosen_by]}", f"{_named(value)}{_mesh(sharding)}", _share(value)]
    if sharding.text and sharding.text != sharding.spec:
        lines.append(sharding.text)
    return Mark(short(sharding), value.chosen_by or NOBODY, "\n".join(lines))


def together(values: Sequence[ShardedValue], noun: str = "") -> Mark:
    """The mark of a line with several values: the last of the largest, and how many differ; `noun` counts them."""
    if len(values) == 1:
        return sharding_mark(values[0])
    largest = max(math.prod(value.map.shape) for value in values)
    last = [value for value in values if math.prod(value.map.shape) == largest][-1]
    alike = list({label_key(value): value for value in values}.values())
    ways = len({short(value.map.sharding) for value in alike})
    label = f"{len(values)} {noun}" if noun else short(last.map.sharding) + (f" +{ways - 1}" if ways > 1 else "")
    kinds = {value.chosen_by for value in alike} if noun else {last.chosen_by}
    kind = (kinds.pop() or NOBODY) if len(kinds) == 1 else SEVERAL
    return Mark(label, kind, line_values.listed([_line(value) for value in alike]))


LabelKey = tuple[str, str, tuple[int, ...], int, str | None]


def label_key(value: ShardedValue) -> LabelKey:
    """Values with equal keys have equal marks."""
    shard_map = value.map
    return value.made_by or value.name, shard_map.dtype, shard_map.shape, id(shard_map.sharding), value.chosen_by


def _line(value: ShardedValue) -> str:
    return f"{_named(value)}: {value.map.sharding.spec}, {_CHOSEN[value.chosen_by]}; {_share(value)}"


def _named(value: ShardedValue) -> str:
    return f"{value.made_by or value.name} {wording.array(value.map.dtype, value.map.shape)}"


def _mesh(sharding: Sharding) -> str:
    return f" on mesh {sharding.mesh}" if sharding.mesh is not None else ""


def _share(value: ShardedValue) -> str:
    if not value.map.fits:
        return f"which device holds what is unknown: {value.map.sharding.problem or wording.OTHER_RANK}"
    parts = [wording.per_device(value.map), wording.copies(value.map), wording.uneven(value.map)]
    return ", ".join(filter(None, parts))
