"""The profile buffers that kernels wrote during a run, with what is needed to decode each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jaxstage_ext.core.jax_private.mosaic_dumps import MosaicDump
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec


@dataclass(frozen=True, eq=False)
class MosaicCapture:
    """One run of a kernel that recorded a profile.

    Attributes:
      words: the buffer.    spec: what it was recorded with.
      time: Unix time in nanoseconds at which it reached the host, which is after the kernel ended.
      error: what JAX's own dump of it raised; "" if it did not.
    """

    words: npt.NDArray[np.uint32] = field(repr=False)
    spec: MosaicSpec
    time: int
    error: str = ""


def captures_of(dumps: Sequence[MosaicDump]) -> list[MosaicCapture]:
    """The buffers that JAX dumped, in the order in which they came."""
    return [
        MosaicCapture(
            dump.words, MosaicSpec.of_jax(dump.spec, dump.grid, dump.block, dump.kernel), dump.time, dump.error
        )
        for dump in dumps
    ]
