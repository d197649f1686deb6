"""A folder that XLA dumped into, as named artefacts. Runs in the worker: stdlib and this package's `elf` alone."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxstage_ext.worker.inside import elf

FLAGS = {"xla_dump_emitter_re": "^llvm$|^ptx$|^triton-fusion$"}
"""What has XLA dump the code of each kernel at no cost. The names are whole: "llvm" alone would also match
"triton-to-llvm", MLIR's log of every pass, which takes ten times as long as the compile."""
LARGEST = 64 << 20
"""Bytes of a file above which it is left out."""
_ENTRY = re.compile(r"^(?:\.visible )?\.entry\s+([\w$.]+)", re.MULTILINE)
_DEFINE = re.compile(r'^define (?!(?:internal|private)\b)[^@\n]*@(?:"([^"\n]+)"|([\w$.-]+))\(', re.MULTILINE)
_TRITON = re.compile(r'\b(?:tt\.func|xtile\.entry_func|func\.func)\b[^@\n]*@(?:"([^"\n]+)"|([\w$.-]+))\(')
_THUNK = re.compile(r"^\s*(?P<id>\d+): (?P<kind>k\w+)\s+\[[^\]]*\]\s*(?P<rest>.*)$", re.MULTILINE)
_LAUNCH = re.compile(r"(\S+) grid: \[([\d, ]+)\] threads: \[([\d, ]+)\]\s+shared_memory: (\d+)")
_METADATA = re.compile(r'profile_annotation: "([^"\n]*)"\s+thunk_id: (\d+)')
_STAGES = {"ir-no-opt.ll": "llvm0", "ir-with-opt.ll": "llvm", "ttir.txt": "ttir", "ptx": "ptx", "o": "object"}


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
      left_out: files above LARGEST.
    """

    kernels: dict[str, dict[str, bytes]]
    launches: list[Launch]
    left_out: list[str]


def packed(artefacts: Artefacts) -> tuple[dict[str, Any], list[bytes]]:
    """Artefacts as plain JSON and bytes; a file that defines several kernels counts once."""
    files = {id(data): data for part in artefacts.kernels.values() for data in part.values()}
    number = {key: place for place, key in enumerate(files)}
    kernels = {
        name: {stage: number[id(data)] for stage, data in part.items()} for name, part in artefacts.kernels.items()
    }
    head = {"kernels": kernels, "launches": artefacts.launches, "left_out": artefacts.left_out}
    return head, list(files.values())


def unpacked(head: Mapping[str, Any], files: Sequence[bytes]) -> Artefacts:
    """`packed` undone."""
    kernels = {name: {stage: files[number] for stage, number in part.items()} for name, part in head["kernels"].items()}
    launches = [
        Launch(name, kind, kernel, tuple(grid), tuple(threads), shared)
        for name, kind, kernel, grid, threads, shared in head["launches"]
    ]
    return Artefacts(kernels, launches, list(head["left_out"]))


def digest(text: str) -> str:
    """Of an HLO module's text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read(folder: Path) -> Artefacts:
    """The machine code in a dump folder."""
    kernels: dict[str, dict[str, bytes]] = {}
    left_out = []
    defined: dict[str, list[str]] = {}
    files = [(suffix, path) for suffix in _STAGES for path in sorted(folder.glob(f"*.{suffix}"))]
    for suffix, path in files:
        if "before_validation" in path.name:
            continue
        if path.stat().st_size > LARGEST:
            left_out.append(path.name)
            continue
        data = path.read_bytes()
        part = path.name.removesuffix("." + suffix).replace(".obj-file.", ".", 1)
        symbols = defined.get(part) if suffix == "o" else None
        symbols = _symbols(suffix, data) if symbols is None else symbols
        if suffix == "ir-with-opt.ll":
            defined[part] = symbols
        packed = zlib.compress(data, 1)
        for symbol in symbols:
            kernels.setdefault(symbol, {})[_STAGES[suffix]] = packed
    return Artefacts(kernels, _launches(folder), left_out)


def _symbols(suffix: str, data: bytes) -> list[str]:
    """The kernels that a file defines; in GPU code functions that no one launches are none."""
    if suffix == "o":
        found = elf.read(data)
        return [function.name for function in found.functions] if found else []
    text = data.decode("utf-8", "replace")
    if suffix == "ptx":
        return _ENTRY.findall(text)
    if suffix == "ttir.txt":
        return _names(_TRITON.finditer(text))[:1]
    definitions = list(_DEFINE.finditer(text))
    launched = [match for match in definitions if "ptx_kernel" in match[0]]
    return _names(launched or definitions)


def _names(found: Iterable[re.Match[str]]) -> list[str]:
    return [match[1] or match[2] for match in found]


def _launches(folder: Path) -> list[Launch]:
    sequence, metadata = (_only(folder, f"*.thunk_{what}.txt") for what in ("sequence", "metadata"))
    names = {int(number): name for name, number in _METADATA.findall(metadata)}
    steps: dict[int, Launch] = {}
    for thunk in _THUNK.finditer(sequence):
        number, kind = int(thunk["id"]), thunk["kind"][1:]
        launch = _LAUNCH.search(thunk["rest"])
        step = Launch(names.get(number, ""), kind)
        if launch:
            step = step._replace(
                kernel=launch[1], grid=_integers(launch[2]), threads=_integers(launch[3]), shared=int(launch[4])
            )
        steps.setdefault(number, step)
    steps.pop(0, None)
    return [steps[number] for number in sorted(steps)]


def _only(folder: Path, pattern: str) -> str:
    path = next(iter(sorted(folder.glob(pattern))), None)
    return path.read_text("utf-8", "replace") if path and path.stat().st_size <= LARGEST else ""


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))
