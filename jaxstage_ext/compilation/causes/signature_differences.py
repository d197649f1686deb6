"""In what the arguments of two calls differ, by the paths of the later one's parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxstage_ext.compilation.causes.argument_paths import GivenArgument, TreeParts, arguments, parts
from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.leaf_differences import (
    as_placed,
    leaf_differences,
    leaf_text,
    placement_differences,
)
from jaxstage_ext.compilation.causes.option_differences import value_text
from jaxstage_ext.compilation.causes.sameness import equal, is_same_tree
from jaxstage_ext.compilation.records.call_parameters import call_parameters
from jaxstage_ext.compilation.records.compile_record import CallSignature, CompileRecord
from jaxstage_ext.compilation.records.static_parts import static_part_differences


def signature_differences(before: CompileRecord, now: CompileRecord) -> Iterator[Difference]:
    """Every part of the arguments in which two calls differ: forms, pytrees, types, then placements."""
    first, second = before.signature, now.signature
    if first is None or second is None:
        return
    if first.tree is None or second.tree is None or same_tree(first, second):
        yield from _leaves_of_equal_trees(now, first, second)
    else:
        yield from _of_trees(before, now, first, second)


def same_tree(first: CallSignature, second: CallSignature) -> bool:
    """Whether the pytrees of two calls are equal; a class whose `__eq__` fails is not."""
    return is_same_tree(first.tree, second.tree)


def _leaves_of_equal_trees(now: CompileRecord, first: CallSignature, second: CallSignature) -> Iterator[Difference]:
    if equal(first.avals, second.avals) and equal(first.placements, second.placements):
        return
    pairs = [
        at
        for at, (old, new) in enumerate(zip(first.avals, second.avals, strict=False))
        if old is not new and not equal(old, new)
    ]
    placed = [
        at
        for at, (old, new) in enumerate(zip(first.placements, second.placements, strict=False))
        if old is not new and not equal(old, new)
    ]
    paths = [path for argument in arguments(now) for path in parts(argument.tree, argument.name).leaves]
    for at in pairs:
        changes = leaf_differences(_path(paths, at), first, at, second, at)
        if at in placed:
            yield from (as_placed(change, first.placements[at], second.placements[at]) for change in changes)
        else:
            yield from changes
    for at in placed:
        if at not in pairs:
            yield from placement_differences(_path(paths, at), first.placements[at], second.placements[at])


def _path(paths: list[str], at: int) -> str:
    return paths[at] if at < len(paths) else f"argument {at}"


def _of_trees(
    before: CompileRecord, now: CompileRecord, first: CallSignature, second: CallSignature
) -> Iterator[Difference]:
    old, new = ({a.name: a for a in arguments(record)} for record in (before, now))
    for name in [*new, *(name for name in old if name not in new)]:
        if name in old and name in new:
            yield from _of_argument(old[name], new[name], first, second)
        elif not _is_static(name, old.get(name) or new.get(name), first, second):
            yield _came_or_went(name, old.get(name), new.get(name), first, second, now)


def _is_static(name: str, argument: GivenArgument | None, first: CallSignature, second: CallSignature) -> bool:
    """Whether an argument without leaves is told of among the static ones."""
    statics = {value.name for signature in (first, second) for value in signature.statics}
    return argument is not None and argument.tree.num_leaves == 0 and name in statics


def _of_argument(
    old: GivenArgument, new: GivenArgument, first: CallSignature, second: CallSignature
) -> Iterator[Difference]:
    if old.by_keyword != new.by_keyword:
        yield Difference(Cause.ARGUMENT_FORM, new.name, _form(old), _form(new))
    was, is_now = parts(old.tree, old.name), parts(new.tree, new.name)
    if not is_same_tree(old.tree, new.tree):
        yield from _of_parts(was, is_now, old, new, first, second)
    places = {path: old.first + at for at, path in enumerate(was.leaves)}
    for at, path in enumerate(is_now.leaves, new.first):
        if (then := places.get(path)) is not None:
            yield from leaf_differences(path, first, then, second, at)
            if then < len(first.placements) and at < len(second.placements):
                yield from placement_differences(path, first.placements[then], second.placements[at])


def _form(argument: GivenArgument) -> str:
    return "keyword" if argument.by_keyword else "positional"


def _came_or_went(
    name: str,
    old: GivenArgument | None,
    new: GivenArgument | None,
    first: CallSignature,
    second: CallSignature,
    now: CompileRecord,
) -> Difference:
    before, after = (_whole(old, first) if old else "", _whole(new, second) if new else "")
    default = call_parameters(now.function).defaults.get(name)
    if default is None:
        return Difference(Cause.PYTREE, name, before, after)
    return Difference(Cause.ARGUMENT_FORM, name, before, after, value_text(default))


def _whole(argument: GivenArgument, signature: CallSignature) -> str:
    data = argument.tree.node_data()
    return leaf_text(signature, argument.first) if data is None else _node_text(data)


def _of_parts(
    was: TreeParts,
    is_now: TreeParts,
    old: GivenArgument,
    new: GivenArgument,
    first: CallSignature,
    second: CallSignature,
) -> Iterator[Difference]:
    before = {path: leaf_text(first, old.first + at) for at, path in enumerate(was.leaves)}
    after = {path: leaf_text(second, new.first + at) for at, path in enumerate(is_now.leaves)}
    replaced: list[str] = []
    for path in dict.fromkeys([*is_now.nodes, *was.nodes]):
        if any(path.startswith(parent) and path != parent for parent in replaced):
            continue
        texts = _part_text(path, before, was.nodes), _part_text(path, after, is_now.nodes)
        kinds = tuple(found.nodes.get(path, (None, None))[0] for found in (was, is_now))
        if kinds[0] is not kinds[1]:
            replaced.append(path)
            target = texts[0] if kinds[0] in (tuple, list) and kinds[1] in (tuple, list) else ""
            yield Difference(Cause.PYTREE, path, texts[0], texts[1], target)
        elif kinds[0] not in (dict, tuple, list) and equal(was.nodes[path][1], is_now.nodes[path][1]) is not True:
            yield from static_part_differences(path, was.nodes[path][1], is_now.nodes[path][1])
    for path in dict.fromkeys([*after, *before]):
        if (path in before) != (path in after) and not _is_inside(path, replaced):
            yield Difference(Cause.PYTREE, path, before.get(path, ""), after.get(path, ""))


def _is_inside(path: str, replaced: list[str]) -> bool:
    return any(path == parent or path.startswith((f"{parent}[", f"{parent}.")) for parent in replaced)


def _part_text(path: str, leaves: dict[str, str], nodes: dict[str, tuple[Any, Any]]) -> str:
    return _node_text(nodes[path]) if path in nodes else leaves.get(path, "")


def _node_text(data: tuple[Any, Any]) -> str:
    kind = data[0]
    return "None" if kind is type(None) else str(getattr(kind, "__name__", kind))
