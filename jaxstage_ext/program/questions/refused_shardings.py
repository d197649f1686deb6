"""The shardings of a call that JAX refuses, and why it refuses them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax

from jaxstage_ext.analysis.sharding import from_plain, refusals
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, RESULT, ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import named_meshes, tracing
from jaxstage_ext.core.layout import specs, value_shardings
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.library_arguments import authors_names

if TYPE_CHECKING:
    from jaxstage_ext.core.call import Call


_OF_PMAP = "flat_args["


def read(program: Program) -> Shardings | None:
    """The shardings given for a call that failed before lowering; None if they are not why it failed."""
    if program.staged.failed is None or (error := program.error) is None:
        return None
    message = error.message
    named = dict(leaves(program.call))
    given = [value for name, leaf in named.items() if (value := _value(name, leaf)) is not None]
    wrong, apart = refusals.indivisible(message), refusals.sides_apart(message)
    notes = list(_apart(program, apart))
    if wrong is not None and tracing.is_pmap(program.call.fn):
        same = " or ".join(name for name, leaf in named.items() if _shape(leaf) == wrong.shape)
        wrong = wrong._replace(name=name_in_pmap(program.call, wrong.name) or same)
        others = [leaf for name, leaf in named.items() if name != wrong.name]
        notes.append(f"{wrong.name}: {_of_pmap(wrong, others)}")
        given = [_refused(wrong.name, named.get(wrong.name), wrong), *(v for v in given if v.name != wrong.name)]
    elif wrong is not None:
        names = [wrong.name] if wrong.name else [name for name, leaf in named.items() if _shape(leaf) == wrong.shape]
        alike = " or ".join([*names, f"a result of shape {wrong.shape}"])
        notes.append(wrong.sentence(wrong.name or alike))
        given = [
            *[_refused(name, named.get(name), wrong) for name in names],
            *(v for v in given if v.name not in names),
        ]
    if wrong is None and not apart:
        return None
    meshes = dict.fromkeys(mesh for value in given if (mesh := value.map.sharding.mesh) is not None)
    return Shardings(tuple(given), _places(given), tuple(meshes), tuple(notes))


def _apart(program: Program, sides: Sequence[refusals.PlacedSide]) -> Iterator[str]:
    """Where each side is, then what holds for both."""
    meshes = meshes_of(program) if sides else []
    for side in sides:
        yield side.sentence(next((mesh.sizes for mesh in meshes if mesh.fits(side.ids, side.size)), ""))
    if len(sides) == 2:
        names = [side.name for side in sides if side.name]
        move = f"move {names[0]} with jax.device_put, or " if names else ""
        yield f"A program runs on one set of devices: {move}use one mesh for both."


def meshes_of(program: Program) -> list[named_meshes.NamedMesh]:
    """The meshes of a call's arguments, of what `jax.jit` was given, and of what the function names itself."""
    given = [getattr(leaf, "sharding", None) for _, leaf in leaves(program.call)]
    return named_meshes.named_meshes(program.call.fn, program.jax_traced, given)


def argument_names(call: Call, names: Sequence[str]) -> list[str]:
    """The names of arrays that JAX was given, by the function's own where JAX or a library numbers them."""
    if tracing.is_pmap(call.fn):
        return [name_in_pmap(call, name) for name in names]
    return authors_names(call, names)


def name_in_pmap(call: Call, name: str) -> str:
    """The argument's own name, where JAX only numbers the leaves that pmap passes on."""
    if not name.startswith(_OF_PMAP):
        return name
    number = name.removeprefix(_OF_PMAP).rstrip("]")
    static, _ = tracing.static_arguments(call.fn)
    names = [leaf for leaf, _ in leaves(call, {at % len(call.args) for at in static} if call.args else set())]
    return names[int(number)] if number.isdecimal() and int(number) < len(names) else name


def _of_pmap(wrong: refusals.Indivisible, others: Sequence[Any]) -> str:
    mapped = f"pmap maps its axis {wrong.axis} of size {wrong.shape[wrong.axis]}"
    if any((_shape(leaf) or ())[:1] == (wrong.parts,) for leaf in others):
        return f"{mapped}, and that of another argument has size {wrong.parts}; all mapped axes must be of one size."
    return f"{mapped}, one element on a device, and there are {wrong.parts} devices."


def leaves(call: Call, without: Collection[int] = ()) -> Iterator[tuple[str, Any]]:
    """The arrays of a call by their names, those of some positional arguments left out."""
    try:
        args, kwargs = specs.arguments(call)
        bound = signature_of(call.fn).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # MeshError is a ValueError
        bound = {f"args[{i}]": arg for i, arg in enumerate(call.args)} | dict(call.kwargs)
    for at, (name, value) in enumerate(bound.items()):
        if at in without:
            continue
        for path, leaf in leaves_with_paths(value):
            yield name + path_text(path), leaf


def parameter_names(call: Call) -> list[str]:
    """The names of the positional arguments that a call has, in their order."""
    try:
        names = list(signature_of(call.fn).bind(*call.args, **call.kwargs).arguments)
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"args[{at}]" for at in range(len(names), len(call.args)))]


def _shape(leaf: Any) -> tuple[int, ...] | None:
    shape = getattr(leaf, "shape", None)
    return None if shape is None else tuple(shape)


def _value(name: str, leaf: Any) -> ShardedValue | None:
    sharding = getattr(leaf, "sharding", None)
    if not isinstance(sharding, jax.sharding.Sharding):
        return None
    order = {device.id: at for at, device in enumerate(jax.devices())}
    given = from_plain.read(value_shardings.plain(sharding, leaf.shape, order), leaf.shape)
    return ShardedValue(name, ARGUMENT, ShardingMap(tuple(leaf.shape), given, *_type(leaf)), Chooser.YOU)


def _refused(name: str, leaf: Any, wrong: refusals.Indivisible) -> ShardedValue:
    kind = ARGUMENT if leaf is not None else RESULT
    return ShardedValue(name, kind, ShardingMap(wrong.shape, wrong.sharding, *_type(leaf)), Chooser.YOU)


def _type(leaf: Any) -> tuple[str, int | None]:
    dtype = getattr(leaf, "dtype", None)
    return ("", None) if dtype is None else (short_dtype(dtype), int(dtype.itemsize) * 8)


def _places(values: Sequence[ShardedValue]) -> tuple[DevicePlace, ...]:
    """The devices in JAX's order, up to the last that a value uses; ids leave gaps between processes."""
    most = max((max(value.map.sharding.holders.ravel().tolist()) for value in values), default=-1)
    known = dict(enumerate(map(value_shardings.device, jax.devices())))
    devices = [known.get(number) for number in range(most + 1)]
    return tuple(
        DevicePlace(number) if device is None else DevicePlace(device.id, device.process, device.coords, device.core)
        for number, device in enumerate(devices)
    )
