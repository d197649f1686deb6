"""What looks for findings that cost host time, or the result, of every call."""

from __future__ import annotations

from jaxstage_ext.findings.calls import (
    copied_argument,
    eager_calls,
    nondeterministic,
    python_call,
    reused_key,
    stale_value,
)
from jaxstage_ext.findings.detector import Detector

CALLS: tuple[Detector, ...] = (
    eager_calls.DETECTOR,
    python_call.DETECTOR,
    stale_value.DETECTOR,
    copied_argument.DETECTOR,
    nondeterministic.DETECTOR,
    reused_key.DETECTOR,
)
