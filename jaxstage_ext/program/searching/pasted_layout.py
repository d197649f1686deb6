"""What the code of a layout is made of: the PartitionSpecs of each argument, as the user would nest them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
from jax.sharding import PartitionSpec

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.layout import specs as argument_specs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching.layout_call import argument_trees, axis_spec, result_tree
from jaxstage_ext.program.searching.layout_scoring import module_layout
from jaxstage_ext.program.searching.unsharded_call import has_own_shardings
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search.decision_wording import spec_text
from jaxstage_ext.search.layout_code import Flattened, PastedLayout, Replaced, variable
from jaxstage_ext.search.layout_result import ScoredLayout
from jaxstage_ext.search.layout_specs import LayoutSpecs


def pasted_layout(
    program: Program, searchable: SearchableProgram, layout: ScoredLayout, with_types: bool = False
) -> PastedLayout:
    """The parts of a layout's code; `with_types` asks for the specs of all results, for which it is partitioned."""
    given = argument_trees(program, searchable, layout.specs)
    trees = [(jax.tree.structure(tree, is_leaf=_is_spec), name) for name, tree in given.items()]
    own, function = has_own_shardings(program.call), program.name if program.name.isidentifier() else "fn"
    callee = f"{function}.__wrapped__" if own else function
    result = _Written(f"jax.eval_shape({callee}, {', '.join(_passed(program.call, given))})", trees)
    options = tracing.jit_options(program.call.fn) | dict(program.call.jit)
    titles = argument_specs.titles_of(program.call)
    named = zip(searchable.arguments, layout.specs, searchable.leaves, strict=True)
    made = result_tree(program, searchable, layout.results)
    return PastedLayout(
        mesh=dict(layout.mesh),
        trees={name: _Written(name, trees).text(tree) for name, tree in given.items()},
        leaves=[(path, spec) for path, spec, leaf in named if leaf is not None and spec is not None],
        candidate=layout.candidate,
        function=function,
        callee=callee if own else "",
        options=_written_options(options),
        donation=_written_options({name: value for name, value in options.items() if name.startswith("donate")}),
        parameters=tuple(titles),
        static=tuple(title for title in titles if title not in given),
        passed=_by_name(program.call, titles),
        results=None if made is None else result.text(made),
        result_types=_types(program, searchable, layout, result) if with_types else None,
    )


def _written_options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in options.items())


def _by_name(call: Call, titles: Sequence[str]) -> str:
    """How the arguments of a call are passed on by variables of their names."""
    names = [variable(title) for title in titles]
    positional = len(call.args)
    return ", ".join([*names[:positional], *(f"{name}={name}" for name in names[positional:])])


def _passed(call: Call, names: Iterable[str]) -> list[str]:
    """The arguments as they are written in a call: those that JAX traces by their names, others as their values."""
    titles = argument_specs.titles_of(call)
    values = (*call.args, *call.kwargs.values())
    written = [title if title in names else repr(value) for title, value in zip(titles, values, strict=True)]
    positional = len(call.args)
    return written[:positional] + [
        f"{name}={text}" for name, text in zip(call.kwargs, written[positional:], strict=True)
    ]


def _types(program: Program, searchable: SearchableProgram, layout: ScoredLayout, result: _Written) -> Any:
    """The specs of all results: those asked for, else what Shardy propagates; None where it refuses the layout."""
    specs = LayoutSpecs(tuple(layout.mesh.items()), layout.specs, layout.results)
    [answer] = searchable.partitioner.partition([module_layout(specs)])
    if isinstance(answer, Unavailable):
        return None
    pairs = zip(layout.results, answer.results, strict=True)
    every = [given if given is not None else propagated for given, propagated in pairs]
    return result.text(result_tree(program, searchable, every))


@dataclass(frozen=True)
class _Written:
    """How a tree of PartitionSpecs is written.

    Attributes:
      value: an expression of the value that the tree is of, for what cannot be written but by its structure.
      named: the structure of each argument, with its name, which is shorter.
    """

    value: str
    named: Sequence[tuple[Any, str]]

    def text(self, tree: Any) -> Any:
        """The tree as text, one text where all of it is alike."""
        leaves = jax.tree.leaves(tree, is_leaf=_is_spec)
        texts = {_spec(leaf) for leaf in leaves}
        if len(texts) == 1:
            return texts.pop()
        here = self._shortest(tree)
        if type(tree) is dict and all(isinstance(key, str | int) for key in tree):
            return {key: here._at(f"[{key!r}]").text(value) for key, value in tree.items()}
        if type(tree) in (list, tuple):
            return type(tree)(here._at(f"[{place!r}]").text(value) for place, value in enumerate(tree))
        if _is_named_tuple(tree):
            fields = {name: here._at(f".{name}").text(getattr(tree, name)) for name in tree._fields}
            return Replaced(here.value, fields) if texts else here.value
        return Flattened(here.value, tuple(_spec(leaf) for leaf in leaves))

    def _shortest(self, tree: Any) -> _Written:
        """With the name of an argument of this structure in the place of a longer expression."""
        structure = jax.tree.structure(tree, is_leaf=_is_spec)
        name = next((name for known, name in self.named if _is_same(known, structure)), self.value)
        return replace(self, value=name)

    def _at(self, part: str) -> _Written:
        return replace(self, value=f"{self.value}{part}")


def _is_named_tuple(tree: Any) -> bool:
    """Whether it is a tuple whose children are named."""
    return isinstance(tree, tuple) and hasattr(tree, "_fields") and hasattr(tree, "_replace")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two structures are equal; classes of the user's may hold what cannot be compared."""
    try:
        return bool(one == other)
    except Exception:
        return False


def _is_spec(value: Any) -> bool:
    return value is None or isinstance(value, PartitionSpec)


def _spec(spec: PartitionSpec | None) -> str:
    return "None" if spec is None else spec_text(axis_spec(spec, len(spec)))
