"""`ins.kernels`: the machine code of a program, kernel by kernel, computed one stage at a time when first asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, Unpack

from jaxstage_ext.program.head.document_titles import KERNEL_TITLES
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.unavailable import Unavailable

STAGES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "cpu": ("llvm0", "llvm", "asm"),
        "cuda": ("ttir", "mosaic", "llvm0", "llvm", "ptx", "sass"),
        "tpu": ("mosaic", "bundles"),
    }
)
"""What there can be of a kernel, by platform, in the order of compilation."""
_ALSO = {"ll": "llvm", "llvm-ir": "llvm", "assembly": "asm", "triton": "ttir"}


@dataclass(frozen=True)
class Figures:
    """What a kernel takes; None where it is not known."""

    registers: int | None = None
    """Of a thread."""
    spill_stores: int | None = None
    spill_loads: int | None = None
    stack: int | None = None
    """`spill_stores`, `spill_loads`, `stack`: bytes of a thread."""
    shared: int | None = None
    """Bytes of shared memory of a block, that of its launch among them."""
    code_bytes: int | None = None
    """Of machine code."""
    instructions: int | None = None
    """Of the machine, without those that only fill up the end; on TPUs VLIW bundles."""
    reason: str | None = None
    """Why what is unknown is unknown."""


NO_FIGURES = Figures()
_NUMBERS = (
    ("registers", ""),
    ("spill_stores", "B"),
    ("spill_loads", "B"),
    ("stack", "B"),
    ("shared", "B"),
    ("code_bytes", "B"),
    ("instructions", ""),
)
"""The whole numbers among the figures, with their units."""


class Source(Protocol):
    """Where texts and figures come from."""

    def document(self, kernel: Kernel, stage: str, progress: Progress | None = None) -> Document: ...

    def ready(self, kind: str) -> Document | None: ...

    def figures(self, kernel: Kernel) -> Figures: ...

    def measure(self, progress: Progress | None = None) -> None: ...


@dataclass(frozen=True)
class Kernel:
    """One piece of machine code, or a step of the program that has none of its own."""

    name: str
    """Its symbol in the machine code; "" for a step that a library or XLA's runtime does."""
    instructions: tuple[str, ...]
    """Names of the HLO instructions that run it, in the program's order."""
    kind: str
    """Of its instruction: "loop fusion", "Triton fusion", "custom-call to __cublas$gemm", or its opcode."""
    stages: Mapping[str, str | None]
    """Per stage None, or why there is none."""
    grid: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    """`grid`, `threads`: of its first launch; empty where there is none."""
    rows: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """Stretches of lines (from 0) of the HLO document that it came from."""
    source: Source | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> str:
        """What it is called in its table: its symbol or, without one, its HLO instruction."""
        return self.name or self.instructions[0]

    @property
    def figures(self) -> Figures:
        """Registers, spills, sizes; computed for all kernels when first asked for."""
        return self.source.figures(self) if self.source else NO_FIGURES

    def document(self, stage: str, progress: Progress | None = None) -> Document:
        """The text of a stage with its links. Raises Unavailable, with the reason, where there is none.

        `progress` is called about twice a second while libtpu recompiles for a stage ("bundles").
        """
        stage = _ALSO.get(stage.lower(), stage.lower())
        if stage not in self.stages:
            raise Unavailable(f"{stage!r} is not a stage of {self.key}; there are {', '.join(self.stages)}")
        if reason := self.stages[stage]:
            raise Unavailable(f"{self.key} has no {KERNEL_TITLES[stage]}: {reason}")
        assert self.source is not None
        return self.source.document(self, stage, progress)

    def text(self, stage: str) -> str:
        """The text of a stage: "llvm0", "llvm", "asm", "ttir", "ptx", "sass", "mosaic", "bundles"."""
        return self.document(stage).text

    def __str__(self) -> str:
        lines = [f"{self.key}: {self.kind}"]
        if self.name:
            lines.append(f"run by {', '.join(self.instructions) or 'nothing that the dump names'}")
        lines += [f"{KERNEL_TITLES[stage]}: {reason or 'yes'}" for stage, reason in self.stages.items()]
        return "\n".join(lines)


class Kernels(Mapping[str, Kernel]):
    """The kernels of a program, by symbol or by HLO instruction, in the program's order. Frozen.

    Attributes:
      platform: "cpu", "cuda" or "tpu".   notes: what is to be known about how they were got.
      rows: a Kernel each, those of libraries among them.
    """

    def __init__(self, platform: str, rows: Sequence[Kernel], source: Source, notes: Sequence[str] = ()) -> None:
        self.platform, self.notes, self._source = platform, tuple(notes), source
        self.rows = tuple(dataclasses.replace(row, source=source) for row in rows)
        self._by_key = {row.key: row for row in self.rows}
        self._by_instruction = {name: row for row in self.rows for name in row.instructions}

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(STAGES[self.platform])

    def measure(self, progress: Progress | None = None) -> None:
        """Compute the figures of all kernels; `progress` is called with the elapsed time meanwhile."""
        self._source.measure(progress)

    def ready(self, kind: str) -> Document | None:
        """The document "stage:kernel" if it was read before."""
        return self._source.ready(kind)

    def __getitem__(self, name: str) -> Kernel:
        kernel = self._by_instruction.get(name) or self._by_key.get(name)
        if kernel is None:
            near = [key for key in self._by_key if str(name) in key][:3]
            raise KeyError(
                f"no kernel and no HLO instruction {name!r}" + (f"; there is {', '.join(near)}" if near else "")
            )
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def table(self) -> Table:
        """The kernels as a table; the figures of all of them are computed for it."""
        figures = [row.figures for row in self.rows]
        columns = {
            "kernel": Column([row.name or None for row in self.rows], doc="symbol in the machine code"),
            "HLO instructions": Column([list(row.instructions) for row in self.rows], doc="those that run it"),
            "kind": Column([row.kind for row in self.rows]),
            **{name: Column([getattr(f, name) for f in figures], unit, is_whole=True) for name, unit in _NUMBERS},
            "reason": Column([f.reason for f in figures], doc="why a figure is unknown"),
            "grid": Column([list(row.grid) for row in self.rows], doc="of its first launch"),
            "threads": Column([list(row.threads) for row in self.rows], doc="of its first launch"),
            "stages": Column([[stage for stage, lack in row.stages.items() if lack is None] for row in self.rows]),
        }
        reasons = {
            (at, name): f.reason
            for name, _ in _NUMBERS
            for at, f in enumerate(figures)
            if f.reason and getattr(f, name) is None
        }
        return Table("kernels", columns, reasons, self.notes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, one row a kernel; unknown numbers are <NA>. Raises ImportError without pandas."""
        return self.table.to_pandas(units=False)

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """Versioned JSON; with `limit`, `by` or `where`, rows, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def __repr__(self) -> str:
        from jaxstage_ext.program.machine_code import kernel_listing

        return str(kernel_listing.text(self))

    def _repr_html_(self) -> str:
        from jaxstage_ext.program.machine_code import kernel_listing

        return str(kernel_listing.html(self))
