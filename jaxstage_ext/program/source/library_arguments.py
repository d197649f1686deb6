"""The arrays of a call through `equinox.filter_jit` or `flax.nnx.jit`, as its author writes them.

Both libraries give JAX trees of their own, by which JAX names the arrays: `dynamic_nodonate['first'][2]`,
`model.states[0][3]`. A name is replaced where the call's own arguments have exactly the arrays that these number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.inputs.signatures import signature_of, unwrapped

_EQUINOX = re.compile(r"(dynamic_(?:no)?donate\['(?:first|fun|rest)'\])\[(\d+)\]()")
_NNX = re.compile(r"^(.+)\.states\[0\]\[(\d+)\](.*)")

Known = Mapping[str, Mapping[int, str]]
"""The author's names of a group's arrays, by their numbers in it."""


def authors_names(call: Call, names: Sequence[str]) -> list[str]:
    """The names with those of libraries' own trees replaced; as they are where the call does not tell them."""
    library = f"{type(call.fn).__module__}."
    form = _EQUINOX if library.startswith("equinox.") else _NNX if library.startswith("flax.nnx.") else None
    found = [form.fullmatch(name) if form else None for name in names]
    if form is None or not any(found):
        return list(names)
    try:
        known = dict(_of_equinox(call) if form is _EQUINOX else _of_nnx(call))
    except Exception:  # of the library's, or of a class of the user's
        return list(names)
    numbers: dict[str, set[int]] = {}
    for match in filter(None, found):
        numbers.setdefault(match[1], set()).add(int(match[2]))
    sure = {group for group, used in numbers.items() if used == set(known.get(group, ()))}
    return [
        known[match[1]][int(match[2])] + match[3] if match and match[1] in sure else name
        for name, match in zip(names, found, strict=True)
    ]


def _of_equinox(call: Call) -> Iterator[tuple[str, dict[int, str]]]:
    """Equinox gives the first argument, the function, and the rest, each as its leaves, None for what is static."""
    bound = signature_of(call.fn).bind(*call.args, **call.kwargs)
    positional = _positional(call.fn, len(bound.args))
    parts = {
        "first": [(positional[0] + path_text(path), leaf) for path, leaf in leaves_with_paths(bound.args[0])]
        if bound.args
        else [],
        "fun": [(f"self{path_text(path)}", leaf) for path, leaf in leaves_with_paths(unwrapped(call.fn))],
        "rest": [
            *(
                (name + path_text(path), leaf)
                for name, arg in zip(positional[1:], bound.args[1:], strict=True)
                for path, leaf in leaves_with_paths(arg)
            ),
        ],
    }
    # a None stands behind the last argument: no leaf
    keywords = leaves_with_paths(dict(bound.kwargs))
    parts["rest"] += [(str(path[0].key) + path_text(path[1:]), leaf) for path, leaf in keywords]
    for part, leaves in parts.items():
        numbered = {at: name for at, (name, leaf) in enumerate(leaves) if isinstance(leaf, jax.Array)}
        yield f"dynamic_nodonate['{part}']", numbered
        yield f"dynamic_donate['{part}']", numbered


def _positional(fn: Any, count: int) -> list[str]:
    """The names of so many positional arguments; those beyond the parameters by number, `args[0]`."""
    named, more = [], ""
    for parameter in signature_of(fn).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            more = parameter.name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            named.append(parameter.name)
    return [*named, *(f"{more}[{at}]" for at in range(count - len(named)))][:count]


def _of_nnx(call: Call) -> Iterator[tuple[str, dict[int, str]]]:
    """Those of nnx, which gives each module as a list of its variables, without those that a module before it has."""
    nnx = sys.modules["flax.nnx"]
    graph: Any = nnx.graph

    def is_node(value: Any) -> bool:
        return isinstance(value, nnx.Variable) or bool(graph.is_graph_node(value))

    bound = signature_of(call.fn).bind(*call.args, **call.kwargs)
    names = _positional(call.fn, len(bound.args))
    nodes = [(name, arg) for name, arg in zip(names, bound.args, strict=True)]
    nodes += sorted(bound.kwargs.items())
    with nnx.split_context() as context:
        for name, arg in nodes:
            for path, node in jax.tree_util.tree_leaves_with_path(arg, is_leaf=is_node):
                if is_node(node):
                    _, state = context.flatten(node)
                    group = name + path_text(path)
                    yield group, {at: group + _attributes(node, way) for at, way in enumerate(state.paths)}


def _attributes(node: Any, way: Sequence[Any]) -> str:
    """`.layers[0].kernel`: an item of a dict or a list, else an attribute."""
    text = ""
    for part in way:
        is_item = isinstance(part, int) or isinstance(node, Mapping)
        text += f"[{part!r}]" if is_item else f".{part}"
        node = _child(node, part, is_item)
    return text


def _child(node: Any, part: Any, is_item: bool) -> Any:
    if is_item:
        return node[part] if isinstance(node, (Mapping, list, tuple)) else None
    return (
        getattr(node, part) if isinstance(node, tuple) else vars(node).get(part) if hasattr(node, "__dict__") else None
    )
