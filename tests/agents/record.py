"""Writes the transcripts of the ten loops anew, or of those that are named.

PYTHONPATH=.:tests:tests/helpers JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES=4 JAXSTAGE_MEASURE_CPU=0 \\
  .venv-newest/bin/python tests/agents/record.py [NAME ...]

A program of `mended/` that is removed is written too: the fault's with the change applied.
"""

from __future__ import annotations

import os
import sys

import compiled_once
from agents.faults import FAULTS, Fault
from agents.reader import ROOT, Reading, called, edited, inspected, loop


def transcript(fault: Fault, reading: Reading) -> str:
    """The loop as text: what was asked, and what was answered."""
    head = f"# {fault.name}: {fault.kind}, {fault.call} for {fault.target}\n\n"
    head += f"{len(reading.calls)} calls, {reading.tokens:,} tokens of output (characters / 4)\n"
    steps = zip(reading.calls, reading.answers, strict=True)
    parts = [f"\n## {call}\n\n```text\n{answer.strip()}\n```\n" for call, answer in steps]
    return (head + "".join(parts)).replace("\r", "")


def record(fault: Fault) -> None:
    fault.mended.parent.mkdir(exist_ok=True)
    if not fault.mended.exists():
        fault.mended.write_text(_edited_first(fault))
    fault.transcript.write_text(transcript(fault, loop(fault)))


def _edited_first(fault: Fault) -> str:
    if fault.edits:
        return edited(fault, Reading(), {})
    found = next(one for one in inspected(fault, fault.program).findings.all() if one.kind.value == fault.kind)
    return edited(fault, Reading(), {"change": found.change.code})


if __name__ == "__main__":
    os.chdir(ROOT)
    with compiled_once.kept():
        for fault in FAULTS:
            if fault.name in sys.argv[1:] or not sys.argv[1:]:
                record(fault)
                print(fault.name, called(fault, fault.mended)[0], flush=True)
