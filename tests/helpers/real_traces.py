"""The real JSON traces of other devices, as Python's own json reads them."""

from __future__ import annotations

import functools
import gzip
import json
from typing import Any

from tests.helpers.profiles import trace_bytes

JSON_TRACES = (
    "cuda_event_sync_multi_stream",
    "cupti_counters",
    "nvidia_h100_torch_bert_small",
    "nvidia_h100_torch_owlv2",
    "nvidia_v100_torch_nccl_216k",
)


@functools.cache
def json_events(name: str) -> list[dict[str, Any]]:
    """The events of a JSON trace, as Python's own json reads them."""
    events: list[dict[str, Any]] = json.loads(gzip.decompress(trace_bytes(f"{name}.trace.json.gz")))["traceEvents"]
    return events
