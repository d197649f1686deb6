"""The figures of a compiled program that are kept by commit: those that take no further compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import exchanges
from jaxstage_ext.program.questions.module_work import work


def program_figures(program: Program) -> dict[str, float | None]:
    """FLOPs, bytes moved, memory needed, bytes that each device sends, and how many collectives; None unknown."""
    asked: Mapping[str, Callable[[], float | None]] = {
        "FLOPs": lambda: None if (flops := work(program).flops_range).is_unknown else flops.counted,
        "bytes moved": lambda: work(program).total_bytes,
        "memory needed": lambda: device_fit(program).needed,
        "sent": lambda: exchanges(program).sent.most,
        "collectives": lambda: len(exchanges(program)),
    }
    return {name: _known(ask) for name, ask in asked.items()}


def _known(ask: Callable[[], float | None]) -> float | None:
    try:
        return ask()
    except ValueError:  # Unavailable among them
        return None
