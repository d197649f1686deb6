"""What is to be known of how layouts were searched."""

from __future__ import annotations

from collections.abc import Sequence

NO_PARAMETERS = (
    "no argument returns as a result of the same structure, so none was taken for parameters and storing parameters "
    "over an axis (FSDP) was not tried"
)

SIMULATED = (
    "what returns was taken for the state of a simulation: its elements meet their neighbours or each other, and no "
    "product of matrices reads it; so storing parameters over an axis (FSDP) was not tried"
)

CALLS_PYTHON = (
    "the program calls back into Python, which one device does for all: what moving values to it takes is not in the "
    "estimates"
)
JIT_LEFT_OUT = (
    "the in_shardings and out_shardings of the function's jax.jit are left out of all layouts but your own; code is "
    "for the function that it wraps, __wrapped__"
)


def not_compilable(reason: str) -> str:
    """A program of which no layout compiles, whatever it is."""
    return f"no layout of it can be compiled here, so whether one fits is unknown; JAX says: {reason}"


def assumed(names: Sequence[str], carried: Sequence[str] = ()) -> str:
    """Which arguments were taken for parameters without a result to prove it, beside state that is carried along."""
    why = "no argument returns as a result of the same structure"
    if carried:
        why = f"what returns, {' and '.join(carried)}, has one row per element of a batch: state that is carried along"
    return f"{why}; {' and '.join(names)} was taken for parameters as a pytree"
