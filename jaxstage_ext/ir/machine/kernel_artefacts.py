"""The machine code of a program's kernels, out of what the compile worker packed of XLA's dumps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

STAGES = {"llvm0", "llvm", "ttir", "ptx", "object"}
"""What a dump may hold of a kernel."""


class Launch(NamedTuple):
    """A step of a GPU program."""

    instruction: str
    """Of HLO; "" where the dump names none."""
    kind: str
    """XLA's name of the step, "CustomKernel"."""
    kernel: str | None = None
    """None where no kernel of this program runs."""
    grid: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    """`grid`, `threads`: of the launch."""
    shared: int | None = None
    """Bytes of shared memory that the launch adds to the kernel's own."""


class KernelArtefacts(NamedTuple):
    """What a dump holds of machine code."""

    kernels: dict[str, dict[str, bytes]]
    """By symbol, and in it by stage ("llvm0", "llvm", "ttir", "ptx", "object"), the file's bytes, deflated."""
    launches: list[Launch]
    """The steps of a GPU program in order; empty elsewhere."""
    left_out: list[str]
    """Names of files that were too large."""
    damaged: tuple[str, ...] = ()
    """Of those that are cut."""


def read(head: Mapping[str, Any], parts: Sequence[bytes]) -> KernelArtefacts:
    """Unpack the worker's answer: plain JSON that refers to deflated files by number. Raises for anything else."""
    kernels = {
        name: {stage: parts[_number(number, len(parts))] for stage, number in part.items()}
        for name, part in head["kernels"].items()
    }
    if not {stage for part in kernels.values() for stage in part} <= STAGES:
        raise ValueError("not stages of machine code")
    launches = [_launch(*launch) for launch in _list(head["launches"])]
    left_out, damaged = ([_text(name) for name in _list(head.get(part, []))] for part in ("left_out", "damaged"))
    return KernelArtefacts(kernels, launches, left_out, tuple(damaged))


def _launch(instruction: Any, kind: Any, kernel: Any, grid: Any, threads: Any, shared: Any) -> Launch:
    kernel, shared = None if kernel is None else _text(kernel), None if shared is None else _number(shared)
    sizes = tuple(map(_number, grid)), tuple(map(_number, threads))
    return Launch(_text(instruction), _text(kind), kernel, *sizes, shared)


def _list(value: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{value!r:.100} is not a list")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.100} is not a name")
    return value


def _number(value: Any, end: int = 1 << 62) -> int:
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"{value!r:.100} is not a number from 0 to {end - 1}")
    return value
