"""A folder that XLA dumped into, as the machine code of each kernel. `ir.kernel_artefacts` reads what this packs."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import elf

FLAGS = {"xla_dump_emitter_re": "^llvm$|^ptx$|^triton-fusion$"}
"""What has XLA dump the code of each kernel at no cost. The names are whole: "llvm" alone would also match
"triton-to-llvm", MLIR's log of every pass, which takes ten times as long as the compile."""
_ENTRY = re.compile(r"^(?:\.visible )?\.entry\s+([\w$.]+)", re.MULTILINE)
_DEFINE = re.compile(r'^define (?!(?:internal|private)\b)[^@\n]*@(?:"([^"\n]+)"|([\w$.-]+))\(', re.MULTILINE)
_TRITON = re.compile(r'\b(?:tt\.func|xtile\.entry_func|func\.func)\b[^@\n]{0,400}@(?:"([^"\n]+)"|([\w$.-]+))\(')
_THUNK = re.compile(r"^\s*(?P<id>\d+): (?P<kind>k\w+)\s+\[[^\]]*\]\s*(?P<rest>.*)$", re.MULTILINE)
_LAUNCH = re.compile(r"(?<!\S)(\S++) grid: \[([\d, ]+)\] threads: \[([\d, ]+)\]\s+shared_memory: (\d+)")
_METADATA = re.compile(r'profile_annotation: "([^"\n]*)"\s+thunk_id: (\d+)')
_STAGES = {"ir-no-opt.ll": "llvm0", "ir-with-opt.ll": "llvm", "ttir.txt": "ttir", "ptx": "ptx", "o": "object"}

Launch = tuple[str, str, str | None, tuple[int, ...], tuple[int, ...], int | None]
"""Instruction of HLO, kind, kernel, grid, threads, bytes of shared memory."""


def read(folder: Path, largest: int) -> dict[str, Any]:
    """The machine code in a dump folder: {"head": plain JSON, "parts": deflated files}.

    The head has "kernels" (by symbol, and in it by stage, the number of a part), "launches" (the steps of a GPU program
    in order, a `Launch` each), "left_out" (names of files of more than `largest` bytes).
    """
    kernels: dict[str, dict[str, bytes]] = {}
    left_out = []
    defined: dict[str, list[str]] = {}
    files = [(suffix, path) for suffix in _STAGES for path in sorted(folder.glob(f"*.{suffix}"))]
    for suffix, path in files:
        if "before_validation" in path.name:
            continue
        if path.stat().st_size > largest:
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
    numbered, parts = _numbered(kernels)
    launches = _launches(folder, largest)
    return {"head": {"kernels": numbered, "launches": launches, "left_out": left_out}, "parts": parts}


def _numbered(kernels: Mapping[str, Mapping[str, bytes]]) -> tuple[dict[str, dict[str, int]], list[bytes]]:
    """Files by number; one that defines several kernels counts once."""
    files = {id(data): data for stages in kernels.values() for data in stages.values()}
    number = {key: place for place, key in enumerate(files)}
    numbered = {name: {stage: number[id(data)] for stage, data in stages.items()} for name, stages in kernels.items()}
    return numbered, list(files.values())


def _symbols(suffix: str, data: bytes) -> list[str]:
    """The kernels that a file defines; in GPU code functions that nothing launches do not count."""
    if suffix == "o":
        parsed = elf.read(data)
        return [function.name for function in parsed.functions] if parsed else []
    text = data.decode("utf-8", "replace")
    if suffix == "ptx":
        return _ENTRY.findall(text)
    if suffix == "ttir.txt":
        return _names(_TRITON.finditer(text))[:1]
    definitions = list(_DEFINE.finditer(text))
    launched = [match for match in definitions if "ptx_kernel" in match[0]]
    return _names(launched or definitions)


def _names(matches: Iterable[re.Match[str]]) -> list[str]:
    return [match[1] or match[2] for match in matches]


def _launches(folder: Path, largest: int) -> list[Launch]:
    sequence, metadata = (_first(folder, f"*.thunk_{what}.txt", largest) for what in ("sequence", "metadata"))
    names = {int(number): name for name, number in _METADATA.findall(metadata)}
    steps: dict[int, Launch] = {}
    for thunk in _THUNK.finditer(sequence):
        number, kind = int(thunk["id"]), thunk["kind"][1:]
        steps.setdefault(number, _launch(names.get(number, ""), kind, _LAUNCH.search(thunk["rest"])))
    steps.pop(0, None)
    return [steps[number] for number in sorted(steps)]


def _launch(instruction: str, kind: str, launch: re.Match[str] | None) -> Launch:
    if launch is None:
        return instruction, kind, None, (), (), None
    return instruction, kind, launch[1], _integers(launch[2]), _integers(launch[3]), int(launch[4])


def _first(folder: Path, pattern: str, largest: int) -> str:
    path = next(iter(sorted(folder.glob(pattern))), None)
    return path.read_text("utf-8", "replace") if path and path.stat().st_size <= largest else ""


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))
