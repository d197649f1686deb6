"""The machine code of a program's kernels, out of what the compile worker packed of XLA's dumps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Launch(NamedTuple):
    """A step of a GPU program.

    Attributes:
      instruction: of HLO; "" where the dump names none.   kind: XLA's name of the step, "CustomKernel".
      kernel: None where no kernel of this program runs.   grid, threads: of the launch.
      shared: bytes of shared memory that the launch adds to the kernel's own.
    """

    instruction: str
    kind: str
    kernel: str | None = None
    grid: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    shared: int | None = None


class Artefacts(NamedTuple):
    """What a dump holds of machine code.

    Attributes:
      kernels: by symbol, and in it by stage ("llvm0", "llvm", "ttir", "ptx", "object"), the file's bytes, deflated.
      launches: the steps of a GPU program in order; empty elsewhere.
      left_out: names of files that were too large.
    """

    kernels: dict[str, dict[str, bytes]]
    launches: list[Launch]
    left_out: list[str]


def read(head: Mapping[str, Any], parts: Sequence[bytes]) -> Artefacts:
    """Unpack the worker's answer: plain JSON that refers to deflated files by number."""
    kernels = {name: {stage: parts[number] for stage, number in part.items()} for name, part in head["kernels"].items()}
    launches = [
        Launch(instruction, kind, kernel, tuple(grid), tuple(threads), shared)
        for instruction, kind, kernel, grid, threads, shared in head["launches"]
    ]
    return Artefacts(kernels, launches, list(head["left_out"]))
