"""Errors of arguments and results that do not fit their meshes, their shardings or the axes that pmap maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jax

from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.core.jax_private import named_meshes, tracing
from jaxstage_ext.ir.sources.source import cell_of
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves, name_in_pmap, parameter_names
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import SourceSpan
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import plural

_PMAP_AXIS, _MISMATCH = "_internal_pmap_axis_name", "should match the mesh passed to shard_map"


def mapped_twice(program: Program, error: StageError) -> str | None:
    """A pmap inside a pmap, which JAX no longer has and reports as two meshes that should match.

    None for another error.
    """
    if _PMAP_AXIS not in error.message or _MISMATCH not in error.message:
        return None
    return (
        "A pmap inside a pmap is gone from JAX: use jax.vmap for the inner one, or one jax.shard_map over a mesh of "
        "two axes for both."
    )


_UNEQUAL = "Mesh for all inputs should be equal"
_NAMED = 3


def meshes_apart(program: Program, error: StageError) -> str | None:
    """Which arguments are on which mesh, where meshes differ in axes or their types.

    None for another error, or where the arguments' meshes are one.
    """
    if _UNEQUAL not in error.message:
        return None
    by_mesh: dict[str, list[str]] = {}
    for name, leaf in leaves(program.call):
        if words := named_meshes.mesh_words(getattr(leaf, "sharding", None)):
            by_mesh.setdefault(words, []).append(name)
    if len(by_mesh) < 2:
        return None
    sides = [f"{_listed(names)} {'is' if len(names) == 1 else 'are'} on mesh {mesh}" for mesh, names in by_mesh.items()]
    first = next(iter(by_mesh.values()))[0]
    return (
        f"{', and '.join(sides)}: move {first} to the mesh of the others with jax.device_put, or use one mesh for all."
    )


def _listed(names: list[str]) -> str:
    return some(names, _NAMED)


_APPLIED = re.compile(
    r"shard_map applied to the function '([^']{1,200})' was given out_specs which require replication"
)
_RESULT = re.compile(
    r"out_specs(\S{0,200}) is (P\((?:[^()]++|\([^()]*+\))*+\)) which implies that the corresponding output value is "
    r"replicated across mesh (?:axis|axes) (.{1,200}?), but could"
)


def replicated_result(program: Program, error: StageError) -> str | None:
    """Which result of a shard_map is not provably replicated as its `out_specs` say, and along which mesh axis.

    None for another error.
    """
    applied, result = _APPLIED.search(error.message), _RESULT.search(error.message)
    if applied is None or result is None:
        return None
    where, (path, spec, axes) = _line(program, applied[1]), result.groups()
    return (
        f"result{path} of {applied[1]}{where} has out_specs {spec}, and JAX cannot tell that it is the same along "
        f"{axes}: make it so with jax.lax.psum or jax.lax.pmean over {axes}, or name the axis in out_specs where each "
        "device gives a part."
    )


def _line(program: Program, name: str) -> str:
    """` (In [2]:3)`, where the function that the call is of begins; "" where it is another one."""
    code = getattr(unwrapped(program.call.fn), "__code__", None)
    if code is None or code.co_name != name:
        return ""
    file = code.co_filename
    span = SourceSpan(file, cell_of(file), name, code.co_firstlineno, 1, code.co_firstlineno, 0)
    return f" ({span.label}:{span.line})"


_SPEC = re.compile(r"spec=(P\((?:[^()]++|\([^()]*+\))*+\))")
_NAME = re.compile(r"pytree key path (\S{1,200}) is incompatible with its sharding annotation ")
_RANKS = re.compile(r"values of rank at least (\d{1,9}), but was applied to a value of rank (\d{1,9})")
_TREE = re.compile(r"at key path\s{1,9}pjit (in|out)_shardings\[(\d{1,6})\](\S{0,200})")
_KEYS = re.compile(r"with metadata\s{1,9}(\([^()\n]{0,300}\))")
_LENGTH = re.compile(r"got a tuple or list of length (\d{1,6}) for an args tuple of length (\d{1,6})")


def sharding_prefix(program: Program, error: StageError) -> str | None:
    """Which sharding given to `jax.jit` does not fit its argument, and how they differ; None for another error."""
    message = error.message
    if (named := _NAME.search(message)) and (ranks := _RANKS.search(message)) and (spec := _SPEC.search(message)):
        return _too_long(program, named[1], spec[1], int(ranks[1]), int(ranks[2]))
    if found := _TREE.search(message):
        return _tree(program, message, found)
    if found := _LENGTH.search(message):
        given, wanted = map(int, found.groups())
        names = ", ".join(parameter_names(program.call)[:wanted])
        return f"in_shardings has {plural(given, 'entry', 'entries')}, and the call {wanted} arguments ({names})."
    _, _, rest = message.partition("Got jit sharding: ")
    jit, _, rest = rest.partition(",\narg sharding: ")
    own, is_other, kind = rest.partition(" for arg type: ")
    return _other(program, jit, own, kind) if is_other else None


def _too_long(program: Program, name: str, spec: str, wanted: int, rank: int) -> str:
    if tracing.is_pmap(program.call.fn):
        own = name_in_pmap(program.call, name)
        return (
            f"{own}: pmap maps an axis of it, and it has {plural(rank, 'axis', 'axes')}: give in_axes with None for it."
        )
    return f"{name}: {spec} is for {plural(wanted, 'axis', 'axes')}, and it has {rank}."


def _tree(program: Program, message: str, found: re.Match[str]) -> str:
    side, index, below = found.groups()
    where = f"{side}_shardings[{index}]{below}"
    parameters = parameter_names(program.call)
    of = f" of {parameters[int(index)]}" if side == "in" and int(index) < len(parameters) else ""
    keys = _KEYS.findall(message)
    if "different pytree metadata" in message and len(keys) >= 2:
        whose = "the argument" if side == "in" else "the result"
        return f"{where}{of} has the keys {keys[0]}, and {whose} {keys[1]}; one sharding for all of it fits as well."
    return f"{where}{of} is a different tree; one sharding for all of it fits as well."


def _other(program: Program, jit: str, own: str, kind: str) -> str | None:
    lying = [(name, leaf.sharding) for name, leaf in leaves(program.call) if _is(getattr(leaf, "sharding", None), own)]
    if not lying:
        return None
    names = [name for name, _ in lying]
    which = names[0] if len(names) == 1 else f"One of {', '.join(names[:4])}"
    wanted = next((one for one in tracing.given_shardings(program.call.fn) if _is(one, jit)), None)
    here, there = _place(lying[0][1]), _place(wanted)
    if here == there:
        here = there = ""
    return (
        f"{which} ({kind}) lies as {_short(own)}{here}, and in_shardings of jit want {_short(jit)}{there}: move it "
        "with jax.device_put, or leave in_shardings out."
    )


def _is(sharding: Any, text: str) -> bool:
    return sharding is not None and str(sharding) == text.strip()


def _place(sharding: Any) -> str:
    """` on devices 0, 1 (mesh d=2)`; "" where unknown."""
    for mesh in named_meshes.named_meshes(None, None, [sharding]):
        on = f"an abstract mesh of size {mesh.count}" if mesh.ids is None else refusals.devices(mesh.ids)
        return f" on {on} (mesh {mesh.sizes})"
    return ""


def _short(sharding: str) -> str:
    found = _SPEC.search(sharding)
    return found[1].replace(",)", ")") if found else sharding


_SQUEEZED = "cannot select an axis to squeeze out which has size not equal to one"
_NO_AXIS = "index out of range"
_OUT_OF_BOUNDS = re.compile(r"axis (-?\d{1,9}) is out of bounds for array of dimension (\d{1,9})")
_MOST_NAMED = 4


def pmap_axis(program: Program, error: StageError) -> str | None:
    """Which arguments lack the axis that pmap maps, or have more elements there than there are devices.

    JAX reports the one as an index out of range, the other as a shape that it cannot squeeze. None for another error.
    """
    if not tracing.is_pmap(program.call.fn):
        return None
    axes, given = tracing.pmap_axes(program.call.fn, len(program.call.args))
    mapped = list(_mapped(program, axes))
    if _NO_AXIS in error.message:
        lacking = [
            f"{name} has shape {shape}, and in_axes={axis} maps an axis that it does not have"
            for name, shape, axis in mapped
            if not -len(shape) <= axis < len(shape)
        ]
        return f"pmap: {'; '.join(lacking[:_MOST_NAMED])}." if lacking else None
    if result := _OUT_OF_BOUNDS.search(error.message):
        axis, rank = int(result[1]), int(result[2])
        if axis not in tracing.pmap_out_axes(program.call.fn):
            return None
        return (
            f"pmap: out_axes={axis} puts the mapped axis where a result of {plural(rank, 'axis', 'axes')}, the mapped "
            "one among them, has none."
        )
    if _SQUEEZED not in error.message:
        return None
    devices = jax.device_count() if given is None else given
    there = f"there are {devices}" if given is None else f"it was given {plural(given, 'device')}"
    long = [
        f"{name} has shape {shape}" + (f", mapped on axis {axis}" if axis else "")
        for name, shape, axis in mapped
        if -len(shape) <= axis < len(shape) and shape[axis] > devices
    ]
    if not long:
        return None
    return f"pmap runs one element of the mapped axis on a device, and {there}: {', '.join(long[:_MOST_NAMED])}."


def _mapped(program: Program, axes: list[Any]) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Name, shape and mapped axis of each array of an argument whose axis is a number."""
    for name, argument, axis in zip(parameter_names(program.call), program.call.args, axes, strict=False):
        for path, leaf in leaves_with_paths(argument) if isinstance(axis, int) else ():
            if (shape := getattr(leaf, "shape", None)) is not None:
                yield name + path_text(path), tuple(shape), axis
