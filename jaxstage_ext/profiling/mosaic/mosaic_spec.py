"""What a Mosaic GPU profiler buffer was recorded with: the sizes and names without which its words mean nothing.

A kernel records on the device: each block of threads has traces, one for each of its warps or warpgroups, and each
trace has the same number of 32-bit words. Source of the format: `jax.experimental.mosaic.gpu.profiler`.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.units import with_article

HEADER = 3
"""Words before the records of a trace: globaltimer_lo in nanoseconds, the SM, the words used."""


class MosaicSpecError(DeliberateError, TypeError):
    """What was given does not say how a buffer was recorded; the message is one line."""


class TraceScope(enum.StrEnum):
    """The threads that one trace covers. Their first thread records."""

    WARP = "warp"
    WARPGROUP = "warpgroup"

    @property
    def threads(self) -> int:
        return 32 if self is TraceScope.WARP else 128


class BufferLayout(enum.StrEnum):
    """What the third word of a trace counts."""

    RECORDS = "records"
    """The words of the records: JAX 0.10.2 and newer, 0.12 among them. It is even."""
    RECORDS_AND_HEADER = "records and header"
    """The words of the records, and three for the header: the first versions of Mosaic GPU. It is odd."""


@dataclass(frozen=True)
class MosaicSpec:
    """What a buffer was recorded with.

    Attributes:
      entries: 32-bit words of one trace, its header among them: `ProfilerSpec.entries_per_warpgroup`, which is four
        times the `profile_space` of Pallas.
      names: of the ranges, by their number: `ProfilerSpec.interned_names`.
      grid, block: sizes of the launch, in blocks and in threads.
      scope: the threads of one trace.
      kernel: its name, "" where unknown.
      layout: None to recognise it.
      bounds_check: whether the kernel drops what its buffer has no room for, rather than overwriting other memory.
      launch_known: whether `grid` and `block` are those of the launch; else all traces count as those of one block.
    """

    entries: int
    names: tuple[str, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    scope: TraceScope = TraceScope.WARPGROUP
    kernel: str = ""
    layout: BufferLayout | None = None
    bounds_check: bool = False
    launch_known: bool = True

    def __post_init__(self) -> None:
        sizes = (*self.grid, *self.block)
        if self.entries < HEADER or any(size < 1 for size in sizes):
            raise UnreadableProfile(
                f"a Mosaic profile has at least {HEADER} words in each trace, and sizes of at least 1; this one has "
                f"entries={self.entries}, grid={self.grid}, block={self.block}"
            )
        if math.prod(self.block) % self.scope.threads:
            raise UnreadableProfile(
                f"block={self.block} has {math.prod(self.block)} threads, which are not whole {self.scope}s of "
                f"{self.scope.threads}; give the block and the scope of the launch"
            )

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def traces_per_block(self) -> int:
        return math.prod(self.block) // self.scope.threads

    @property
    def capacity(self) -> int:
        """Words of a trace that records can fill: they take two each."""
        return (self.entries - HEADER) // 2 * 2

    @classmethod
    def of_buffer(
        cls, spec: Any, words: int, grid: Sequence[int] | None, block: Sequence[int] | None, kernel: str = ""
    ) -> MosaicSpec:
        """That of JAX's `ProfilerSpec` for a buffer of so many words, whose launch may be unknown.

        Raises UnreadableProfile where the words are not whole traces, and TypeError for what is not a `ProfilerSpec`.
        """
        if not hasattr(spec, "entries_per_warpgroup") or not hasattr(spec, "interned_names"):
            raise MosaicSpecError(
                f"spec is {with_article(type(spec).__name__)}; give the ProfilerSpec of jax.experimental.mosaic.gpu."
                "profiler that the kernel was made with, or a jaxstage_ext.MosaicSpec"
            )
        if grid is not None and block is not None:
            return cls.of_jax(spec, tuple(grid), tuple(block), kernel)
        if grid is not None or block is not None:
            raise MosaicSpecError("grid and block say the launch together; give both, or neither")
        entries = int(spec.entries_per_warpgroup)
        if not words or words % max(entries, 1):
            raise UnreadableProfile(
                f"this buffer has {words:,} words, which are not whole traces of {entries:,} words "
                "(ProfilerSpec.entries_per_warpgroup)"
            )
        made = cls.of_jax(spec, (1,), (_scope(spec).threads * (words // entries),), kernel)
        return replace(made, launch_known=False)

    @classmethod
    def of_jax(cls, spec: Any, grid: tuple[int, ...], block: tuple[int, ...], kernel: str = "") -> MosaicSpec:
        """That of JAX's `ProfilerSpec`, of any version; older ones have no scope but the warpgroup."""
        return cls(
            entries=int(spec.entries_per_warpgroup),
            names=_in_order(spec.interned_names),
            grid=tuple(int(size) for size in grid),
            block=tuple(int(size) for size in block),
            scope=_scope(spec),
            kernel=kernel,
            layout=BufferLayout.RECORDS if hasattr(spec, "_num_traces") else None,
            bounds_check=bool(getattr(spec, "bounds_check", False)),
        )


def _scope(spec: Any) -> TraceScope:
    return TraceScope[getattr(getattr(spec, "trace_scope", None), "name", TraceScope.WARPGROUP.name)]


def _in_order(interned: Mapping[str, int]) -> tuple[str, ...]:
    """The names by their number. JAX numbers them from 0 without gaps."""
    by_number = {number: name for name, number in interned.items()}
    return tuple(by_number.get(number, "") for number in range(len(by_number)))
