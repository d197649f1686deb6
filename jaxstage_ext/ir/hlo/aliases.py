"""Which results of a module take the memory of an argument."""

from __future__ import annotations

from jaxstage_ext.ir.hlo.module import Module


def aliased_arguments(module: Module) -> dict[int, int]:
    """The number of the argument whose memory XLA reuses, by the number of the result."""
    return {
        (entry.output_shape_index or (0,))[0]: (entry.parameter_shape_index or (entry.parameter_number,))[0]
        for entry in module.header.input_output_alias.entries
    }
