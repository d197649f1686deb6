"""What each instruction of a module does, in the words of its opcode, fusion kind or custom call."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_HEAVY = (b"convolution", b"dot", b"custom-call", b"sort", b"scatter", b"reduce-window", b"fft", b"reduce")
"""What a fusion is named after where it holds it, the first that it does."""


def categories(module: Module, rows: Longs) -> list[str]:
    """What some of a module's rows do: "dot", "loop fusion", "custom fusion of dot", "custom-call to __cublas$gemm"."""
    fields = module.fields(rows, schema.INSTRUCTION_FUSION_KIND, schema.INSTRUCTION_TARGET)
    kinds = module.strings(fields[schema.INSTRUCTION_FUSION_KIND], len(rows))
    targets = module.strings(fields[schema.INSTRUCTION_TARGET], len(rows))
    found = []
    for row, kind, target in zip(rows.tolist(), kinds, targets, strict=True):
        opcode = module.opcode[row].decode("utf-8", "replace")
        if opcode == "fusion":
            found.append(_fusion(module, row, kind.decode("utf-8", "replace")))
        elif opcode == "custom-call" and target:
            found.append(f"custom-call to {target.decode('utf-8', 'replace')}")
        else:
            found.append(opcode)
    return found


def _fusion(module: Module, row: int, kind: str) -> str:
    start, end = module.called.start[row], module.called.start[row + 1]
    called = module.called.values[start:end]
    inside = module.opcode[np.isin(module.computation, called[called >= 0])]
    heavy = next((opcode.decode() for opcode in _HEAVY if (inside == opcode).any()), "")
    name = f"{kind.removeprefix('k').lower()} fusion".strip()
    return f"{name} of {heavy}" if heavy else name
