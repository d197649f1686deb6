"""The arguments of a call as its author names them: `params['w'][0]`, whatever JAX calls the leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jax

from jaxstage_ext.compilation.records.call_parameters import CallParameters, call_parameters
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.equinox_call import LAYER
from jaxstage_ext.compilation.records.static_parts import named_statics
from jaxstage_ext.core.inputs.pytree_paths import path_text
from jaxstage_ext.core.jax_private import jit_options


@dataclass(frozen=True, slots=True)
class GivenArgument:
    """One argument of a call."""

    name: str
    """The parameter's, "" where it is not known."""
    by_keyword: bool
    """How it was given."""
    tree: Any
    """Its PyTreeDef."""
    first: int
    """The place of its first leaf among those of the call."""


def arguments(record: CompileRecord) -> list[GivenArgument]:
    """The dynamic arguments of a call in the order of their leaves; none where the record has no signature."""
    tree = record.signature.tree if record.signature else None
    if tree is None:
        return []
    args, kwargs = _split(tree)
    names = positional_names(record, len(args))
    keys = _keys(kwargs)
    rows = [(name, False, child) for name, child in zip(names, args, strict=True)]
    rows += [(name, True, child) for name, child in zip(keys, kwargs.children() if kwargs else (), strict=True)]
    return list(_placed(rows))


def _placed(rows: list[tuple[str, bool, Any]]) -> Iterator[GivenArgument]:
    first = 0
    for name, by_keyword, tree in rows:
        yield GivenArgument(name, by_keyword, tree, first)
        first += tree.num_leaves


def _split(tree: Any) -> tuple[list[Any], Any]:
    """The trees of the positional arguments, and that of the keywords."""
    parts = tree.children()
    if len(parts) == 2 and _type(parts[0]) is tuple and _type(parts[1]) is dict:
        return parts[0].children(), parts[1]
    return parts, None


def _type(tree: Any) -> Any:
    data = tree.node_data()
    return None if data is None else data[0]


def _keys(kwargs: Any) -> list[str]:
    data = kwargs.node_data() if kwargs is not None else None
    return [str(key) for key in data[1]] if data is not None and data[1] else []


def positional_names(record: CompileRecord, count: int) -> list[str]:
    """The parameters that the first `count` dynamic positional arguments go to."""
    known = call_parameters(record.function)
    static = _static_positions(record, count)
    positions = (at for at in range(count + len(static)) if at not in static)
    return [_name(known, at) for at in islice(positions, count)]


def _name(known: CallParameters, at: int) -> str:
    beyond = at - len(known.positional)
    return known.positional[at] if beyond < 0 else f"{known.rest or 'args'}[{beyond}]"


def _static_positions(record: CompileRecord, dynamic: int) -> frozenset[int]:
    """Where the static arguments stand that were given by position; JAX counts negative numbers from the last given."""
    if record.function is not None and LAYER in record.function.layers:
        return frozenset()  # the numbers are those of Equinox's wrapper
    statics = record.signature.statics if record.signature else ()
    keywords = record.signature.keywords if record.signature else ()
    given = dynamic + sum(value.name not in keywords for value in statics)
    numbers = jit_options.static_positions(record.jit_options)
    return frozenset(at % given for at in numbers if -given <= at < given)


@dataclass(frozen=True)
class TreeParts:
    """One argument's pytree taken apart."""

    leaves: tuple[str, ...]
    """The path of each leaf, in order."""
    nodes: dict[str, tuple[Any, Any]]
    """Of each inner node its type and what it says of itself, by path."""


def parts(tree: Any, name: str) -> TreeParts:
    """The leaves and nodes of an argument by path; of a class that cannot be rebuilt they are numbered."""
    try:
        return _kept_parts(tree, name)
    except Exception:  # what a class of the user's says of itself may have no hash
        return _taken_apart(tree, name)


def _taken_apart(tree: Any, name: str) -> TreeParts:
    leaves: list[str] = []
    nodes: dict[str, tuple[Any, Any]] = {}
    todo = [(name, tree)]
    while todo:
        path, node = todo.pop()
        data = node.node_data()
        if data is None:
            leaves.append(path)
            continue
        children = node.children()
        keys = _child_keys(node, data, children)
        nodes[path] = data[0], named_statics(data[0], data[1], keys)
        todo += reversed(list(zip((path + key for key in keys), children, strict=True)))
    return TreeParts(tuple(leaves), nodes)


def _child_keys(node: Any, data: tuple[Any, Any], children: list[Any]) -> list[str]:
    kind, aux = data
    if kind is dict:
        return [path_text((jax.tree_util.DictKey(key),)) for key in aux]
    if kind in (tuple, list):
        return [f"[{at}]" for at in range(len(children))]
    return _own_keys(node, children) or [f"[{at}]" for at in range(len(children))]


def _own_keys(node: Any, children: list[Any]) -> list[str]:
    """The keys that a class registered for its children; none where rebuilding it without its leaves fails."""
    try:
        rebuilt = jax.tree_util.tree_unflatten(node, range(node.num_leaves))
        pairs = jax.tree_util.tree_leaves_with_path(rebuilt, is_leaf=lambda part: part is not rebuilt)
    except Exception:
        return []
    return [path_text(path) for path, _ in pairs] if len(pairs) == len(children) else []


_kept_parts = lru_cache(maxsize=512)(_taken_apart)
