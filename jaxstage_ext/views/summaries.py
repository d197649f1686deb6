"""What heads a program, asked for by views, which import no JAX themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxstage_ext.report.public_paths import public_text

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program
    from jaxstage_ext.program.summary_form import Summary


def summary_of(program: Program) -> Summary:
    """The summary of a program. Where there is a program, JAX is imported already."""
    from jaxstage_ext.program import summary

    return summary.summary(program)


def call_title(program: Program) -> str:
    """The call's name and the types of its arguments, in one line."""
    if program.saved_summary is not None:
        return program.saved_summary["signature"]
    from jaxstage_ext.program.call_signature import signature

    traced = program.jax_traced is not None
    return program.results.once(("call title", traced), lambda: public_text(signature(program)))


def memory_is_known(program: Program) -> bool:
    """Whether the program's memory was computed, of which its head shows a figure. Computes nothing."""
    from jaxstage_ext.program.memory import memory

    return memory.is_known(program)
