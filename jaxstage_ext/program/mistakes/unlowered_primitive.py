"""Operations that JAX cannot lower for the target: those of the CPU alone, and those that ask a GPU's own library."""

from __future__ import annotations

import re

from jaxstage_ext.core.jax_private import lowering_rules
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.equation_lines import lines_of_primitive
from jaxstage_ext.report.errors import StageError

_NO_RULE = re.compile(r"MLIR translation rule for primitive '(\w+)' not found for platform (\w+)")
_ASKS_LIBRARY = re.compile(r"operation (cu[a-z]+)GetVersion\(.*failed")
_ASKING = "eig"
"""JAX chooses its implementation by the version of cuSOLVER."""
_MOST_NAMED = 3


def explanation(program: Program, error: StageError) -> str | None:
    """Which operation, its lines, where it can be lowered, and what to do; None for another error."""
    if found := _NO_RULE.search(error.message):
        return _without_rule(program, found[1], found[2])
    if not program.target.is_local and (asked := _ASKS_LIBRARY.search(error.message)):
        return (
            f"Lowering {_ASKING}{_at(program, _ASKING)} for a GPU asks CUDA's {asked[1]} for its version, which needs "
            f"the GPU itself, and {program.target} is not in this machine. Inspect it for cpu:N, or where that GPU is."
        )
    return None


def _without_rule(program: Program, primitive: str, platform: str) -> str:
    known = lowering_rules.platforms_of(primitive)
    only = f"only for {', '.join(known)}, " if known else ""
    what = f"JAX lowers {primitive}{_at(program, primitive)} {only}not for {platform}."
    if "cpu" not in known or platform == "cpu":
        return what
    return (
        f"{what} Compute it outside of this function, with its argument on the CPU: "
        "jax.device_put(x, jax.devices('cpu')[0]). Or inspect it for cpu:N."
    )


def _at(program: Program, primitive: str) -> str:
    lines = lines_of_primitive(program, primitive)
    return f" ({', '.join(lines[:_MOST_NAMED])}{', …' if len(lines) > _MOST_NAMED else ''})" if lines else ""
