"""The signature of a record as text: `x: f32[8,4], {'w': f32[4]}, n=3`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxstage_ext.compilation.records.compile_record import CallSignature, CompileRecord, KeptValue
from jaxstage_ext.report.text.bounded_repr import plain_repr
from jaxstage_ext.report.text.units import plural

_MOST_LEAVES, _LONGEST_VALUE = 4, 40
"""Leaves of an argument that are written out, and characters of a static value."""
_BRACKETS: Mapping[Any, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}


def signature_text(record: CompileRecord) -> str:
    """The types that a record's function was called with, its static values last; "" where the call is not known."""
    known = record.signature
    if known is None:
        return ""
    if known.tree is None:
        return plural(len(known.avals), "array") if len(known.avals) > 2 * _MOST_LEAVES else _types(known)
    try:
        return ", ".join([*_arguments(known), *map(_static, known.statics)])
    except Exception:  # a tree or a type of the user's own that cannot be read
        return plural(len(known.avals), "leaf", "leaves")


def _types(known: CallSignature) -> str:
    return ", ".join(map(aval_text, known.avals))


def aval_text(aval: Any) -> str:
    """`f32[8,4]`, `weak f32[]`: an abstract value as JAX writes it in short."""
    try:
        text = str(aval.str_short(short_dtypes=True))
    except Exception:
        text = f"<{type(aval).__name__}>"
    return f"weak {text}" if getattr(aval, "weak_type", False) else text


def _arguments(known: CallSignature) -> Iterator[str]:
    """Each argument; those that were given by keyword with their names."""
    args, kwargs = known.tree.children()
    at = 0
    for tree in args.children():
        yield _tree_text(tree, known.avals[at : at + tree.num_leaves])
        at += tree.num_leaves
    for name, tree in zip(_keys(kwargs), kwargs.children(), strict=True):
        yield f"{name}={_tree_text(tree, known.avals[at : at + tree.num_leaves])}"
        at += tree.num_leaves


def _tree_text(tree: Any, avals: Sequence[Any]) -> str:
    data = tree.node_data()
    if data is None:
        return aval_text(avals[0])
    kind = data[0]
    if kind is type(None):
        return "None"
    if len(avals) > _MOST_LEAVES:
        return f"{kind.__name__} of {plural(len(avals), 'leaf', 'leaves')}"
    children, at = [], 0
    for child in tree.children():
        children.append(_tree_text(child, avals[at : at + child.num_leaves]))
        at += child.num_leaves
    if kind is dict:
        keyed = (f"{plain_repr(key, _LONGEST_VALUE)}: {text}" for key, text in zip(data[1], children, strict=True))
        return f"{{{', '.join(keyed)}}}"
    opening, closing = _BRACKETS.get(kind, (f"{kind.__name__}(", ")"))
    after = "," if kind is tuple and len(children) == 1 else ""
    return f"{opening}{', '.join(children)}{after}{closing}"


def _keys(kwargs: Any) -> list[str]:
    data = kwargs.node_data()
    return [str(key) for key in data[1]] if data is not None else []


def _static(value: KeptValue) -> str:
    text = plain_repr(value.value, _LONGEST_VALUE) if value.is_kept else f"<{value.type}>"
    return f"{value.name}={text}" if value.name else text
