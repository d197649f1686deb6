"""The PartitionSpecs of a call's arguments: matched to them, checked, applied and described."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.inputs.pytree_paths import path_text
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.layout.meshes import Layout, MeshError, first_line, is_some, is_spec, sharding, shown
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.units import plural

_SHARDING = re.compile(
    r"(?:Sharding )?NamedSharding\(mesh=(?:(?!NamedSharding\(|, spec=P).)*+"
    r", spec=P(?:artitionSpec)?\((?:[^()]++|\([^()]*+\))*+\)(?:, memory_kind=\w+)?\)?"
)
"""A NamedSharding in JAX's messages."""


def arguments(call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call's arguments with the shardings of its layout: shapes instead of arrays.

    Raises MeshError, naming the argument, where a PartitionSpec does not fit it.
    """
    args, kwargs, layout = call.args, call.kwargs, call.layout
    if layout is None:
        return tuple(args), dict(kwargs)
    titles = titles_of(call)
    specs, static = _by_title(layout, titles), static_titles(call, titles)
    sharded = [
        (_kept if title in static else _sharded)(value, specs.get(title), layout, title)
        for title, value in zip(titles, (*args, *kwargs.values()), strict=True)
    ]
    return tuple(sharded[: len(args)]), dict(zip(kwargs, sharded[len(args) :], strict=True))


def titles_of(call: Call) -> list[str]:
    """A name for each argument: its parameter's name, or its position."""
    names: list[str] = []
    with contextlib.suppress(ValueError):
        parameters = signature_of(call.fn).parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[i] if i < len(names) else str(i) for i in range(len(call.args))] + list(call.kwargs)


def static_titles(call: Call, titles: Sequence[str]) -> set[str]:
    """The names of the arguments that `jax.jit` does not trace."""
    numbers, names = tracing.static_arguments(call.fn)
    count = len(call.args)
    numbers = (*numbers, *call.jit.get("static_argnums", ()))
    return {titles[n] for n in numbers if -count <= n < count} | {*names, *call.jit.get("static_argnames", ())}


def _by_title(layout: Layout, titles: Sequence[str]) -> dict[str, Any]:
    given, where = layout.inputs, layout.names[1]
    if isinstance(given, PartitionSpec):
        return dict.fromkeys(titles, given)
    pairs: dict[Any, Any] = dict(given if isinstance(given, Mapping) else enumerate(given))
    specs: dict[str, Any] = {}
    for key, spec in pairs.items():
        if isinstance(key, int) and key >= len(titles):
            raise MeshError(f"{where} has {len(pairs)} entries, but the call has {plural(len(titles), 'argument')}")
        name = titles[key] if isinstance(key, int) else str(key)
        if name not in titles:
            near = difflib.get_close_matches(name, titles, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(titles) or 'none'}"
            raise MeshError(f"{where} is for {name!r}, but the call has no such argument; {hint}")
        if name in specs:
            raise MeshError(f"{where} gives {name} twice")
        specs[name] = spec
    return specs


def _kept(value: Any, spec: Any, layout: Layout, title: str) -> Any:
    if spec is not None and not isinstance(layout.inputs, PartitionSpec):
        raise MeshError(f"{layout.names[1]} of {title}: it is static, so it has no sharding; leave it out")
    return value


def _sharded(value: Any, spec: Any, layout: Layout, title: str) -> Any:
    """One argument with the shardings of a prefix of PartitionSpecs."""
    where = f"{layout.names[1]} of {title}"
    tree: Any
    flat, tree = jax.tree.flatten(spec, is_leaf=is_spec)
    try:
        parts = tree.flatten_up_to(value)
    except ValueError as error:
        raise MeshError(f"{where} must be a prefix of the argument's pytree: {first_line(error)}") from None
    made = []
    for leaf_spec, part in zip(flat, parts, strict=True):
        below: Any
        paths, below = jax.tree_util.tree_flatten_with_path(part)
        made.append(below.unflatten([_leaf(v, leaf_spec, layout, where + path_text(p)) for p, v in paths]))
    return tree.unflatten(made)


def _leaf(value: Any, spec: Any, layout: Layout, where: str) -> Any:
    if spec is None:
        return _open(value, layout)
    placed = sharding(layout.mesh, spec, where)
    try:
        aval = jax.typeof(value) if not isinstance(value, jax.ShapeDtypeStruct) else value
        placed.check_compatible_aval(aval.shape)
        placed.shard_shape(aval.shape)
    except TypeError:
        raise MeshError(f"{where}: {type_name(value)} is not an array, so it has no sharding; leave it out") from None
    except ValueError as error:
        raise MeshError(f"{where}: {_plain(first_line(error), spec)}") from None
    return _shape(aval, placed)


def _open(value: Any, layout: Layout) -> Any:
    """An argument without a PartitionSpec. Scalars are replicated, as JAX does on real devices."""
    if isinstance(value, jax.Array) and len(value.sharding.device_set) == 1:
        value = _shape(jax.typeof(value), None) if layout.is_abstract else value
    plain = isinstance(value, bool | int | float | complex)
    if layout.is_abstract and (plain or (np.shape(value) == () and getattr(value, "sharding", None) is None)):
        aval = value if isinstance(value, jax.ShapeDtypeStruct) else jax.typeof(value)
        return _shape(aval, sharding(layout.mesh, PartitionSpec(), where=""))  # type: ignore[no-untyped-call]
    return value


def _shape(aval: Any, placed: NamedSharding | None) -> jax.ShapeDtypeStruct:
    weak = bool(getattr(aval, "weak_type", False))
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=placed, weak_type=weak)  # type: ignore[no-untyped-call]


def check(call: Call) -> None:
    """Raise MeshError for mistakes that are known before the function is traced."""
    fn, layout = call.fn, call.layout
    if layout is None:
        return
    if is_some(layout.inputs) and (tracing.is_pmap(fn) or (has_method(fn, "lower") and not has_method(fn, "trace"))):
        raise MeshError(f"{layout.names[1]} works with functions and jax.jit objects, not with {_kind(fn)}")
    if is_some(layout.inputs) and "in_shardings" in tracing.own_shardings(fn):
        raise MeshError(f"the function is jitted with in_shardings; drop them or {layout.names[1]}")
    if layout.outputs is not None and has_method(fn, "lower"):
        raise MeshError(
            f"the function is already jitted; set out_shardings in its jax.jit instead of {layout.names[2]}"
        )
    around = jax.sharding.get_abstract_mesh()
    if not around.empty and dict(around.shape) != dict(layout.mesh.shape):
        raise MeshError(
            f"jax.set_mesh sets the mesh {shown(around)}, and {layout.names[0]} is {shown(layout.mesh)}; "
            "drop one of them"
        )
    _ = layout.jit
    arguments(call)


def _kind(fn: Any) -> str:
    return f"{str(type(fn).__module__).split('.')[0]}'s {type_name(fn)}"


def note(call: Call) -> str:
    """One line that describes the call's layout; empty where it has none."""
    layout = call.layout
    if layout is None:
        return ""
    titles = titles_of(call)
    specs = _by_title(layout, titles)
    parts = [f"{title} {_spelled(specs[title])}" for title in titles if specs.get(title) is not None]
    parts += [f"result {_spelled(layout.outputs)}"] if layout.outputs is not None else []
    named = f": {', '.join(parts)}" if parts else ""
    return f"Mesh {shown(layout.mesh)}{named}; the compiler chooses all other shardings."


_LONG = 120
"""Characters; a longer tree of specs is summed up by the number of leaves with each spec."""


def _spelled(spec: Any) -> str:
    text = _short(spec)
    return text if len(text) <= _LONG else _tallied(spec)


def _short(spec: Any) -> str:
    return " ".join(str(spec).replace("PartitionSpec", "P").replace(",)", ")").split())


def _tallied(tree: Any) -> str:
    """A tree of specs by their numbers: "34 leaves: 20 P(), 14 P(None, 'model')"."""
    leaves = jax.tree.leaves(tree, is_leaf=lambda leaf: leaf is None or isinstance(leaf, PartitionSpec))
    kinds = Counter("left to the compiler" if leaf is None else _short(leaf) for leaf in leaves)
    parts = [f"{many:,} {kind}" for kind, many in kinds.most_common(_MOST)]
    more = f", {len(kinds) - _MOST:,} other specs" if len(kinds) > _MOST else ""
    return f"({len(leaves):,} leaves: {', '.join(parts)}{more})"


_MOST = 4


def _plain(text: str, spec: Any) -> str:
    """JAX's message with its sharding abbreviated."""
    return _SHARDING.sub(_spelled(spec), text)
