"""The words of a Mosaic GPU profiler buffer as columns: one row for each record, and what is wrong with each trace.

A trace is [globaltimer_lo in ns, SM, words used, (tag, %clock), (tag, %clock), ...]; a tag is the number of a name,
with bit 31 set where its range ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.mosaic.mosaic_spec import HEADER, BufferLayout, MosaicSpec
from jaxstage_ext.profiling.unreadable import UnreadableProfile

Words = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_EXIT = np.uint32(1 << 31)


@dataclass(frozen=True, eq=False)
class MosaicRecords:
    """The records of a buffer, by trace and in the order in which they were made."""

    layout: BufferLayout
    trace: Whole
    name: Whole
    exit: Flags
    clock: Whole
    """`trace`, `name`, `exit`, `clock`: of each record: its trace, the number of its name, whether its range ends, and
    the low 32 bits of the SM's cycle counter."""
    first: Whole
    """Of each trace, the row of its first record; one more entry than traces."""
    timer: Whole
    sm: Whole
    """`timer`, `sm`: of each trace, the low 32 bits of the global timer at its start, in nanoseconds, and its SM."""
    dropped: Whole
    """Of each trace, the records that its buffer had no room for."""
    odd: Flags
    """Of each trace, whether its count of words is one that no kernel writes."""
    overwritten: Flags
    """Of each trace, whether the trace before it ran over into it; its records are left out."""
    full: Flags
    """Of each trace, whether it ends where its buffer does and the kernel drops what comes later."""

    @property
    def counts(self) -> Whole:
        """Records of each trace."""
        return np.diff(self.first)


def read_records(buffer: npt.ArrayLike, spec: MosaicSpec) -> MosaicRecords:
    """Reads the words of a buffer.

    Raises:
      UnreadableProfile: the buffer has not the size of its specification, or its layout is ambiguous.
    """
    traces = _words(buffer, spec).reshape(-1, spec.entries)
    layout = spec.layout or recognised_layout(traces[:, 2])
    used = traces[:, 2].astype(np.int64)
    if layout is BufferLayout.RECORDS_AND_HEADER:
        used = np.where(used, used - HEADER, 0)
    odd = (used % 2 != 0) | (used < 0)
    overwritten = _overwritten(used, spec)
    kept = np.where(overwritten, 0, np.clip(used, 0, spec.capacity) // 2)
    pairs = traces[:, HEADER : HEADER + spec.capacity].reshape(len(traces), spec.capacity // 2, 2)
    records = pairs[np.arange(spec.capacity // 2) < kept[:, None]]
    return MosaicRecords(
        layout=layout,
        trace=np.repeat(np.arange(len(traces)), kept),
        name=(records[:, 0] & ~_EXIT).astype(np.int64),
        exit=(records[:, 0] & _EXIT) != 0,
        clock=records[:, 1].astype(np.int64),
        first=np.concatenate([[0], np.cumsum(kept)]),
        timer=traces[:, 0].astype(np.int64),
        sm=traces[:, 1].astype(np.int64),
        dropped=np.where(overwritten, used // 2, np.maximum(used - spec.capacity + 1, 0) // 2),
        odd=odd,
        overwritten=overwritten,
        full=spec.bounds_check & (kept > 0) & (2 * kept == spec.capacity),
    )


def recognised_layout(used: Words) -> BufferLayout:
    """The layout by the parity of the words used: records take two words each, and the header has three.

    Raises:
      UnreadableProfile: some counts are odd and others even.
    """
    odd = used[used != 0] % 2 != 0
    if odd.any() and not odd.all():
        raise UnreadableProfile(
            f"the layout of this Mosaic profile is ambiguous: {int(odd.sum())} of {len(odd)} traces have an odd count "
            f"of words, which no single version of JAX writes; the buffer may be damaged. Name its layout to read it: "
            f"BufferLayout.RECORDS (JAX 0.10.2 and newer) or BufferLayout.RECORDS_AND_HEADER"
        )
    return BufferLayout.RECORDS_AND_HEADER if odd.any() else BufferLayout.RECORDS


def _words(buffer: npt.ArrayLike, spec: MosaicSpec) -> Words:
    words = np.asarray(buffer)
    if words.dtype.kind not in "iu" or words.dtype.itemsize != 4:
        raise UnreadableProfile(f"a Mosaic profile is an array of uint32; this one is of {words.dtype}")
    expected = spec.blocks * spec.traces_per_block * spec.entries
    if words.size != expected:
        raise UnreadableProfile(
            f"this buffer has {words.size:,} words, but grid={spec.grid} and block={spec.block} make "
            f"{spec.blocks * spec.traces_per_block:,} {spec.scope} traces of {spec.entries} words: {expected:,}"
        )
    native = np.ascontiguousarray(words).astype(words.dtype.newbyteorder("="), copy=False)
    return native.reshape(-1).view(np.uint32)


def _overwritten(used: Whole, spec: MosaicSpec) -> Flags:
    """Whether a trace before it in its block ran over into a trace.

    The traces of a block lie one behind the other in shared memory, each with `entries` words for its records. A kernel
    that checks bounds never runs over.
    """
    end = np.arange(len(used)) * spec.entries + np.where(spec.bounds_check, 0, used)
    reach = np.maximum.accumulate(end.reshape(spec.blocks, -1), axis=1)
    before = np.concatenate([np.zeros((spec.blocks, 1), np.int64), reach[:, :-1]], axis=1).reshape(-1)
    return before > np.arange(len(used)) * spec.entries
