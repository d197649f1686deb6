"""The mesh and PartitionSpecs that the user gives a call: it is staged as if its arguments were sharded so.

Axes are automatic (`AxisType.Auto`): a PartitionSpec in the function is a constraint, and the compiler chooses the
other shardings. For other axis types, the user passes a mesh.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.deliberate_error import DeliberateError

_AXIS = re.compile(r"\s*([^\W\d]\w*)\s*=\s*(\d{1,9})\s*")


class MeshError(DeliberateError, ValueError):
    """An invalid mesh or PartitionSpec; the message is one line."""


@dataclass(frozen=True)
class Layout:
    """A mesh, and the PartitionSpecs of a call on it."""

    mesh: Mesh | AbstractMesh
    """An AbstractMesh, or a Mesh of this kernel's devices."""
    inputs: Sequence[Any] | Mapping[str, Any] | PartitionSpec = ()
    """PartitionSpecs (or None, or pytrees of these, prefixes of the argument) by position, by the parameter's name, or
    one for all arguments. Arguments without one stay unspecified."""
    outputs: Any = None
    """As `out_shardings` of `jax.jit`; None leaves all unspecified."""
    names: tuple[str, str, str] = field(default=("mesh", "in_specs", "out_specs"), compare=False)
    """What the user calls the three, for messages."""

    @property
    def is_abstract(self) -> bool:
        return isinstance(self.mesh, AbstractMesh)

    @property
    def jit(self) -> dict[str, Any]:
        """The options of `jax.jit` that the layout sets."""
        if self.outputs is None:
            return {}
        return {"out_shardings": jax.tree.map(self._sharding_of_output, self.outputs, is_leaf=is_spec)}

    def _sharding_of_output(self, spec: Any) -> Any:
        return None if spec is None else sharding(self.mesh, spec, self.names[2])


def layout(
    mesh: Any,
    inputs: Any,
    outputs: Any,
    targets: Sequence[Target],
    compiled: bool,
    names: tuple[str, str, str] = ("mesh", "in_specs", "out_specs"),
) -> Layout | None:
    """The layout of a call; None where neither a mesh nor PartitionSpecs are given.

    Raises MeshError as `build`, and for PartitionSpecs without a mesh.
    """
    inputs = () if inputs is None else inputs
    if mesh is None:
        given = names[1] if is_some(inputs) else names[2] if outputs is not None else None
        if given:
            raise MeshError(f"{given} needs {names[0]} with the mesh axes, such as data=4")
        return None
    if not isinstance(inputs, PartitionSpec | Mapping | tuple | list):
        raise MeshError(f"{names[1]} must be a tuple, a dict by name or a PartitionSpec, not {inputs!r:.60}")
    return Layout(build(mesh, targets, compiled), inputs, outputs, names)


def is_some(inputs: Any) -> bool:
    """Whether any argument has a PartitionSpec."""
    return isinstance(inputs, PartitionSpec) or bool(inputs)


def parse(text: str) -> dict[str, int]:
    """Axis sizes of `data=4,model=2`. Raises MeshError."""
    axes: dict[str, int] = {}
    for part in text.split(","):
        match = _AXIS.fullmatch(part)
        if match is None:
            raise MeshError(f"mesh {text!r}: {part.strip()!r} is not an axis size such as data=4")
        if match[1] in axes:
            raise MeshError(f"mesh {text!r} has two axes {match[1]!r}")
        axes[match[1]] = int(match[2])
    return _checked(axes)


def _checked(axes: Mapping[Any, Any]) -> dict[str, int]:
    for name, size in axes.items():
        if not isinstance(name, str) or isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise MeshError(f"a mesh axis must have a positive size, such as data=4, not {name!r}: {size!r}")
    if not axes:
        raise MeshError("a mesh needs an axis, such as data=4")
    return dict(axes)


def build(given: Any, targets: Sequence[Target], compiled: bool) -> Mesh | AbstractMesh:
    """The mesh that is given as text, as axis sizes by name, or as a mesh of JAX's, for these targets.

    It has the kernel's own devices where one of the targets is local, otherwise none.
    Raises MeshError for anything else, and for a mesh that the call is compiled for and that is larger than a target.
    """
    if isinstance(given, Mesh | AbstractMesh):
        mesh: Mesh | AbstractMesh = given
    elif isinstance(given, str | Mapping):
        axes = parse(given) if isinstance(given, str) else _checked(given)
        mesh = AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    else:
        raise MeshError(
            f"a mesh must be text such as 'data=4,model=2', a dict of sizes or a jax Mesh, not {given!r:.60}"
        )
    for target in targets if compiled else ():
        _check_room(mesh, target)
    here = any(target.is_local for target in targets) and mesh.size <= jax.device_count()
    return _on_devices(mesh) if here and isinstance(mesh, AbstractMesh) else mesh


def _on_devices(mesh: AbstractMesh) -> Mesh:
    return jax.make_mesh(
        mesh.axis_sizes, mesh.axis_names, axis_types=mesh.axis_types, devices=jax.devices()[: mesh.size]
    )


def _check_room(mesh: Mesh | AbstractMesh, target: Target) -> None:
    room = jax.device_count() if target.is_local else target.devices or 0
    if mesh.size > room:
        have = f"this kernel has {room:,}" if target.name == "local" else f"{target} has {room:,}"
        instead = f"; the target cpu:{mesh.size} has {mesh.size:,} virtual devices" if target.name == "local" else ""
        raise MeshError(f"the mesh {shown(mesh)} has {mesh.size:,} devices, but {have}{instead}")


def shown(mesh: Mesh | AbstractMesh) -> str:
    """`data=4, model=2`."""
    return ", ".join(f"{name}={size}" for name, size in mesh.shape.items())


def sharding(mesh: Mesh | AbstractMesh, spec: Any, where: str) -> NamedSharding:
    """The sharding of a PartitionSpec on the mesh. Raises MeshError, with JAX's message, where it is invalid."""
    if not isinstance(spec, PartitionSpec):
        raise MeshError(
            f"{where}: {spec!r:.60} is not a PartitionSpec; write P('data', None), or None to leave it unspecified"
        )
    try:
        return NamedSharding(mesh, spec)  # type: ignore[no-untyped-call, unused-ignore]
    except Exception as error:  # DuplicateSpecError is not a ValueError
        raise MeshError(f"{where}: {first_line(error)}") from None


@contextlib.contextmanager
def around(layout: Layout | None) -> Iterator[None]:
    """The context that a call is traced in, with the layout's mesh as the mesh of PartitionSpecs in the function."""
    if layout is None:
        yield
        return
    mesh = layout.mesh
    with jax.sharding.use_abstract_mesh(mesh) if isinstance(mesh, AbstractMesh) else jax.set_mesh(mesh):
        yield


def traced(value: Any, layout: Layout | None) -> Any:
    """A trace made in `around`, changed to lower for the mesh even where no sharding in it names the mesh."""
    if layout is None or not isinstance(layout.mesh, AbstractMesh) or not isinstance(value, jax.stages.Traced):
        return value
    return tracing.with_context_mesh(value, layout.mesh)


def is_spec(value: Any) -> bool:
    """Whether the value is a leaf of a pytree of PartitionSpecs."""
    return value is None or isinstance(value, PartitionSpec)


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    return (str(error).strip().splitlines() or ["no reason given"])[0]
