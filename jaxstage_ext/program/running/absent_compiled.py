"""The executable of a target that is not here, with what a `jax.stages.Compiled` says of its arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

import jax
from jax.experimental.layout import Format, Layout
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.layouts.layout_text import ArrayLayout
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT
from jaxstage_ext.analysis.sharding.slices import Sharding
from jaxstage_ext.core.jax_private import lowered_modules, tracing
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.ir.hlo.shapes import HOST
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.running import execution
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.unavailable import Unavailable


class NotCallable(DeliberateError, TypeError):
    """An executable that was not compiled for this kernel's devices was called; the message is one line."""


@dataclass(frozen=True)
class AbsentCompiled(Executable):
    """A compiled program that cannot be run here.

    Its shardings are of an AbstractMesh, since its devices are not here: that of the program, else one axis, "devices".
    """

    program: Program | None = field(default=None, repr=False, compare=False)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        why = "" if self.program is None else execution.why_not_here(self.program)
        raise NotCallable(f"{why or 'it was not compiled in this process'}")

    call = __call__

    @property
    def args_info(self) -> Any:
        """Types of the arguments, and whether each is donated."""
        return self._lowered.args_info

    @property
    def in_avals(self) -> Any:
        """Types of the arguments."""
        return self._lowered.in_avals

    @property
    def in_tree(self) -> Any:
        """The tree of the arguments, (args, kwargs)."""
        return self._lowered.in_tree

    @property
    def out_tree(self) -> Any:
        """The tree of the results."""
        return self._lowered.out_tree

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results."""
        return self._lowered.out_info

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The flat numbers of the arguments that are donated."""
        return tuple(self._lowered.donate_argnums)

    @property
    def input_shardings(self) -> Any:
        """A NamedSharding for each argument, (args, kwargs); None for one that the program does not use."""
        return jax.tree.unflatten(self.in_tree, self._shardings(True))

    @property
    def output_shardings(self) -> Any:
        """A NamedSharding for each result."""
        return jax.tree.unflatten(self.out_tree, self._shardings(False))

    @property
    def input_formats(self) -> Any:
        """A Format, layout and sharding, for each argument, (args, kwargs); None for one that is not used."""
        return jax.tree.unflatten(self.in_tree, self._formats(True))

    @property
    def output_formats(self) -> Any:
        """A Format, layout and sharding, for each result."""
        return jax.tree.unflatten(self.out_tree, self._formats(False))

    def runtime_executable(self) -> None:
        """None: it is not loaded in this process."""

    @property
    def _lowered(self) -> Any:
        lowered = None if self.program is None else self.program.jax_lowered
        if lowered is None:
            raise Unavailable("the program was not lowered by JAX, so its trees are unknown")
        return lowered

    def _shardings(self, of_arguments: bool) -> list[NamedSharding | None]:
        return [sharding for sharding, _ in self._placed(of_arguments)]

    def _formats(self, of_arguments: bool) -> list[Any]:
        return [
            None if sharding is None or layout is None else Format(_layout(layout), sharding)
            for sharding, layout in self._placed(of_arguments)
        ]

    def _placed(self, of_arguments: bool) -> list[tuple[NamedSharding | None, ArrayLayout | None]]:
        """The sharding and the layout of each leaf; None for an argument that the program does not use."""
        lowered, program = self._lowered, self.program
        assert program is not None
        known = shardings(program)
        values = [value for value in known.values if (value.kind == ARGUMENT) is of_arguments]
        leaves = (lowered.in_tree if of_arguments else lowered.out_tree).num_leaves
        head = program.documents["hlo"].lines[0] if program.has_hlo else ""
        layouts = iter([one for one in layout_text.of_entry(head)[not of_arguments] if one.dtype != "token"])
        kept = lowered_modules.signature(program.jax_traced, lowered).kept if of_arguments else range(leaves)
        meshes = _Meshes(_given_meshes(program), known.meshes, self.devices)
        placed: list[tuple[NamedSharding | None, ArrayLayout | None]] = []
        for at, value in enumerate(values[:leaves]):
            layout = next(layouts, None) if at in kept else None
            is_on_host = layout is not None and layout.space == HOST
            placed.append((meshes.named(value.map.sharding, is_on_host) if at in kept else None, layout))
        return placed


def of(program: Program) -> Any:
    """What `Inspection.compiled` is: JAX's Compiled, or the worker's Executable with what a Compiled says."""
    made = program.compiled
    if type(made) is not Executable:
        return made
    return AbsentCompiled(**{one.name: getattr(made, one.name) for one in fields(made)}, program=program)


def _given_meshes(program: Program) -> list[AbstractMesh]:
    """The meshes of the call's arguments and of `jax.jit`, whose axes are of a type that the compiler does not say."""
    given = [getattr(leaf, "sharding", None) for _, leaf in leaves(program.call)]
    meshes = [getattr(one, "mesh", None) for one in (*given, *tracing.given_shardings(program.call.fn))]
    return [getattr(mesh, "abstract_mesh", mesh) for mesh in meshes if mesh is not None]


@dataclass(frozen=True)
class _Meshes:
    """JAX's meshes of a program: those that its caller gave, those of its values, and how many devices it takes."""

    given: Sequence[AbstractMesh]
    of_values: Sequence[Mesh]
    devices: int

    def named(self, sharding: Sharding, is_on_host: bool) -> NamedSharding | None:
        """A sharding as JAX's; None where JAX has no name for it."""
        if not sharding.is_known:
            return None
        axes, mesh = sharding.axes or (), sharding.mesh
        if mesh is None or sharding.axes is None:
            if any(tiles != 1 for tiles in sharding.tiles):
                return None
            axes, mesh = (), self.of_values[0] if len(self.of_values) == 1 else Mesh(("devices",), (self.devices,))
        dims = [_names(of_dim) for of_dim in axes]
        if None in dims:
            return None
        while dims and not dims[-1]:
            dims.pop()
        partition: Any = PartitionSpec  # untyped in some versions of JAX
        spec = partition(*(names[0] if len(names) == 1 else names or None for names in dims if names is not None))
        return NamedSharding(self._mesh(mesh), spec, memory_kind="pinned_host" if is_on_host else None)

    def _mesh(self, mesh: Mesh) -> AbstractMesh:
        """One without devices: those of the caller's mesh are of this machine."""
        given = (one.axis_types for one in self.given if (one.axis_sizes, one.axis_names) == (mesh.sizes, mesh.names))
        types = next(given, (AxisType.Auto,) * len(mesh.names))
        return AbstractMesh(mesh.sizes, mesh.names, axis_types=types)


def _names(axes: Sequence[Axis]) -> tuple[str, ...] | None:
    """The names of whole axes; None where one is a part of an axis, which a PartitionSpec cannot say."""
    return None if any(axis.size is not None for axis in axes) else tuple(axis.name for axis in axes)


def _layout(layout: ArrayLayout) -> Any:
    return Layout(tuple(reversed(layout.order)), layout.tiles, layout.bits)
