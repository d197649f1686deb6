"""Compile logs of the processes of a job, made by hand: times in seconds from a moment on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxstage_ext.processes.compile_row_form import CompileRowForm, KeyForm, ProcessLogForm

BEGAN = 1_790_000_000.0


def log_row(program: str, began: float, seconds: float = 1.0, number: int = 1, **changes: Any) -> CompileRowForm:
    """A compile for the devices of processes 0 and 1, which the persistent cache was not asked for."""
    usual = CompileRowForm(
        number=number,
        program=program,
        signature="f32[8]",
        line="train.py:3",
        is_eager=False,
        processes=[0, 1],
        began=BEGAN + began,
        ended=BEGAN + began + seconds,
        trace=0.25 * seconds,
        lower=0.25 * seconds,
        compile=0.5 * seconds,
        outcome="compiled",
        served_by=[],
        cache="",
        cache_words="",
        key="",
    )
    return {**usual, **changes}  # type: ignore[typeddict-item, return-value, unused-ignore]


def process_log(process: int, rows: Sequence[CompileRowForm], **changes: Any) -> ProcessLogForm:
    """The log of a process of two, on one host."""
    usual = ProcessLogForm(
        process=process,
        processes=2,
        host="here",
        pid=100 + process,
        platform="cpu",
        was_on=True,
        now=BEGAN + 100,
        cache_folder="",
        left_out=0,
        rows=list(rows),
    )
    return {**usual, **changes}  # type: ignore[typeddict-item, return-value, unused-ignore]


def key_form(devices: str = "a", **changes: Any) -> KeyForm:
    """A key of one StableHLO, whose devices have some fingerprint."""
    parts = {"COMPUTATION": "same", "OPTIONS": "same", "DEVICES": devices, "FLAGS": "same"}
    usual = KeyForm(reason="", parts=parts, words={"DEVICES": "2 of 2 cpu devices"}, options={"one": "1"})
    return {**usual, **changes}  # type: ignore[typeddict-item, return-value, unused-ignore]
