"""The machine code of a compiled program, asked of the worker one stage at a time."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core.targets import packages, requests
from jaxstage_ext.core.targets.packages import CUDA_PIP
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.core.targets.requests import Limits
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache
from jaxstage_ext.worker.inside import bundles, disassemble, kernel_dump

LARGEST = f"{kernel_dump.LARGEST >> 20} MB"
TRIES = {"cuda": 6}
"""How often a program is compiled until it is the module that is shown; XLA's GPU compiler wavers between two."""


def dumped(
    prepared: Prepared, text: str, large_constants: bool, limits: Limits, progress: Progress | None
) -> tuple[kernel_dump.Artefacts, bool]:
    """The kernels of the program, compiled once more, and whether they are those of the module with this text.

    The inspection cache keeps those that are.
    """
    wanted = kernel_dump.digest(text)
    key = prepared.key("kernels", wanted)
    if key is not None and (kept := cache.load(key)) is not None:
        return kernel_dump.unpacked(*kept), True
    found, same = prepared.ask(
        "kernels",
        limits,
        how={"lane": "look", "progress": progress},
        wanted=wanted,
        large_constants=large_constants,
        tries=TRIES.get(prepared.target.platform, 1),
    )
    if key is not None and same:
        head, parts = kernel_dump.packed(found)
        cache.store(key, head, *parts)
    return found, same


def final_bundles(prepared: Prepared, limits: Limits, progress: Progress | None) -> dict[str, list[str]]:
    """The VLIW bundles of each HLO instruction of a TPU program, from a process of their own."""
    key = prepared.key("bundles", os.environ.get("LIBTPU_INIT_ARGS", ""))
    if key is not None and (kept := cache.load(key)) is not None:
        listed = list(zip(kept[0]["names"], kept[1], strict=True))
    else:
        how = {"lane": "throw-away", "environment": bundles.environment(), "progress": progress}
        listed = prepared.ask("bundles", limits, how=how)
        if key is not None:
            cache.store(key, {"names": [name for name, _ in listed]}, *(packed for _, packed in listed))
    found: dict[str, list[str]] = {}
    for name, packed in listed:
        found.setdefault(name, []).append(text_of(packed))
    return found


def use(target: Target, tool: str, limits: Limits, progress: Progress | None = None, **what: Any) -> Any:
    """What a tool of the worker's makes of machine code; see `worker_main.Compiler.machine`."""
    request = {"method": "machine", "tool": tool, **what}
    return requests.ask(target, request, limits, lane="look", progress=progress)


Measured = dict[str, dict[str, Any]]


def assembled(target: Target, ptx: Mapping[str, bytes], limits: Limits, progress: Progress | None) -> Measured:
    """PTX through ptxas; see `assemble.assemble`."""
    found: Measured = use(target, "assemble", limits, progress, texts=dict(ptx), ptxas=packages.ptxas())
    return found


def disassembled(target: Target, objects: Mapping[str, bytes], limits: Limits, progress: Progress | None) -> Measured:
    """CPU code as text; see `assemble.disassemble`."""
    found: Measured = use(target, "disassemble", limits, progress, objects=dict(objects))
    return found


def missing_tool(stage: str) -> str | None:
    """Why a stage, or what "ptxas" says, cannot be had here, with the pip command; None where it can."""
    if stage == "asm" and disassemble.disassembler() is None:
        return f"needs capstone or binutils' objdump: {disassemble.CAPSTONE_PIP}"
    if stage in ("ptxas", "sass"):
        tools = {"ptxas": packages.ptxas()} | ({"nvdisasm": nvdisasm()} if stage == "sass" else {})
        if lacks := [name for name, there in tools.items() if not there]:
            return f"needs {' and '.join(lacks)} of the CUDA toolkit: {CUDA_PIP}"
    return None


def nvdisasm() -> str | None:
    """NVIDIA's disassembler; None where it is not installed."""
    return packages.nvdisasm()


def bytes_of(packed: bytes) -> bytes:
    """What was deflated; nothing of nothing."""
    return zlib.decompress(packed) if packed else b""


def text_of(packed: bytes) -> str:
    """The text that was deflated."""
    return bytes_of(packed).decode("utf-8", "replace")
