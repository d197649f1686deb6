"""A result of shard_map that `out_specs` call replicated and JAX cannot show to be so (`check_vma`)."""

from __future__ import annotations

import re

from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.ir.sources.source import cell_of
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import SourceSpan

_APPLIED = re.compile(
    r"shard_map applied to the function '([^']{1,200})' was given out_specs which require replication"
)
_RESULT = re.compile(
    r"out_specs(\S{0,200}) is (P\((?:[^()]++|\([^()]*+\))*+\)) which implies that the corresponding output value is "
    r"replicated across mesh (?:axis|axes) (.{1,200}?), but could"
)


def explanation(program: Program, error: StageError) -> str | None:
    """Which result of which function, and the mesh axis along which it may differ; None for another error."""
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
