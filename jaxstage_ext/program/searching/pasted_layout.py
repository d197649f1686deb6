"""What the code of a layout is made of: the PartitionSpecs of each argument, as the user would nest them."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import PartitionSpec

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching.layout_call import argument_trees, axis_spec, result_tree
from jaxstage_ext.program.searching.layout_scoring import module_layout
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search.decision_wording import spec_text
from jaxstage_ext.search.layout_code import Flattened, PastedLayout
from jaxstage_ext.search.layout_result import ScoredLayout
from jaxstage_ext.search.layout_specs import LayoutSpecs


def pasted_layout(
    program: Program, searchable: SearchableProgram, layout: ScoredLayout, with_types: bool = False
) -> PastedLayout:
    """The parts of a layout's code; `with_types` asks for the specs of all results, for which it is partitioned."""
    given = argument_trees(program, searchable, layout.specs)
    named = zip(searchable.arguments, layout.specs, searchable.leaves, strict=True)
    made = result_tree(program, searchable, layout.results)
    return PastedLayout(
        mesh=dict(layout.mesh),
        trees={name: _written(tree, name) for name, tree in given.items()},
        leaves=[(path, spec) for path, spec, leaf in named if leaf is not None and spec is not None],
        candidate=layout.candidate,
        function=program.name if program.name.isidentifier() else "fn",
        results=None if made is None else _written(made, "result"),
        result_types=_types(program, searchable, layout) if with_types else None,
    )


def _types(program: Program, searchable: SearchableProgram, layout: ScoredLayout) -> Any:
    """The specs of all results: those asked for, else what Shardy propagates; None where it refuses the layout."""
    specs = LayoutSpecs(tuple(layout.mesh.items()), layout.specs, layout.results)
    [answer] = searchable.partitioner.partition([module_layout(specs)])
    if isinstance(answer, Unavailable):
        return None
    pairs = zip(layout.results, answer.results, strict=True)
    every = [given if given is not None else propagated for given, propagated in pairs]
    return _written(result_tree(program, searchable, every), "result")


def _written(tree: Any, argument: str) -> Any:
    """A tree of PartitionSpecs as text, one text where all of it is alike."""
    leaves = jax.tree.leaves(tree, is_leaf=_is_spec)
    texts = {_spec(leaf) for leaf in leaves}
    if len(texts) == 1:
        return texts.pop()
    if not _is_plain(tree):
        return Flattened(argument, tuple(_spec(leaf) for leaf in leaves))
    if isinstance(tree, dict):
        return {key: _written(value, argument) for key, value in tree.items()}
    return type(tree)(_written(value, argument) for value in tree)


def _is_plain(tree: Any) -> bool:
    """Whether it nests dicts with keys that can be written, lists and tuples alone."""
    if _is_spec(tree):
        return True
    if type(tree) is dict:
        return all(isinstance(key, str | int) and _is_plain(value) for key, value in tree.items())
    return type(tree) in (list, tuple) and all(map(_is_plain, tree))


def _is_spec(value: Any) -> bool:
    return value is None or isinstance(value, PartitionSpec)


def _spec(spec: PartitionSpec | None) -> str:
    return "None" if spec is None else spec_text(axis_spec(spec, len(spec)))
