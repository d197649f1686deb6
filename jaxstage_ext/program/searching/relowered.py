"""Whether JAX lowers a program on a mesh of automatic axes, as each layout of it is compiled."""

from __future__ import annotations

from dataclasses import replace

from jax.sharding import AbstractMesh, AxisType

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout.meshes import Layout, first_line
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching.layout_confirmation import lowered_program
from jaxstage_ext.program.searching.unsharded_call import device_count, unsharded_call


def why_not_relowered(program: Program, searchable: SearchableProgram) -> str:
    """JAX's reason in one line, "" where it lowers it. Only programs that JAX may refuse are lowered for it: of types
    with explicit axes, whose code may name them, and with callbacks, which need devices.
    """
    if not searchable.explicit and not lowered_modules.holds_python(program.jax_lowered):
        return ""
    axes = dict(searchable.module.constraints) or {"data": device_count(program)}
    mesh = AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    made = lowered_program(program, replace(unsharded_call(program.call), layout=Layout(mesh)))
    return "" if made.error is None else first_line(made.error.exception or ValueError(made.error.message)).rstrip(".")


def calls_python(searchable: SearchableProgram) -> bool:
    """Whether the program calls back into Python, which one device does for all."""
    return any("callback" in op.target for op in searchable.module.ops)
