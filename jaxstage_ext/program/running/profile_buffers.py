"""The buffers that kernels of Mosaic GPU record an on-device profile into, which JAX adds to their results."""

from __future__ import annotations

import re

from jaxstage_ext.core.jax_private import mosaic_dumps
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.units import scaled

_CALL = re.compile(
    r"^\s*(?:ROOT )?%(?P<name>\S+) = \((?P<results>[^()]*(?:\([^()]*\)[^()]*)*)\) custom-call\(.*"
    r'custom_call_target="mosaic_gpu'
)
_WORDS = re.compile(r"u32\[(\d+)\](?:\{[^{}]*\})?$")


def notes(program: Program) -> tuple[str, ...]:
    """Which buffer is the profile's of which kernel, and that `profile_space` makes it."""
    kernels = mosaic_dumps.profiled_kernels(program.jax_traced)
    if not kernels or not program.has_hlo:
        return ()
    found = []
    for line in program.documents["hlo"].lines:
        call = _CALL.match(line)
        words = _WORDS.search(call["results"]) if call is not None else None
        if call is not None and words is not None:
            index = call["results"].count("[") - 1
            found.append((f"{call['name']}{{{index}}}", 4 * int(words[1])))
    names = kernels if len(kernels) == len(found) else [" or ".join(dict.fromkeys(kernels))] * len(found)
    return tuple(
        f"{buffer}, {scaled(size, 'B')}, is the buffer that {name} records its profile into (profile_space)."
        for (buffer, size), name in zip(found, names, strict=True)
    )
