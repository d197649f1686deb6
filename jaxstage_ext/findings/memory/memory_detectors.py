"""What looks for findings that cost memory."""

from __future__ import annotations

from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.memory import (
    captured_constant,
    index_array,
    large_temporaries,
    missing_donation,
    replicated_state,
    residual_memory,
    tile_padding,
    unread_argument,
    unused_donation,
    useless_checkpoint,
    whole_intermediate,
)

MEMORY: tuple[Detector, ...] = (
    missing_donation.DETECTOR,
    captured_constant.DETECTOR,
    residual_memory.DETECTOR,
    unread_argument.DETECTOR,
    replicated_state.DETECTOR,
    unused_donation.DETECTOR,
    index_array.DETECTOR,
    useless_checkpoint.DETECTOR,
    whole_intermediate.DETECTOR,
    tile_padding.DETECTOR,
    large_temporaries.DETECTOR,
)
