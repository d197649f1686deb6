"""The machine code of a compiled program: recompiled in the worker for its kernels, read there by tools."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core.targets import packages, worker_requests
from jaxstage_ext.core.targets.packages import CAPSTONE_PIP, CUDA_PIP
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import Limits
from jaxstage_ext.ir.machine import kernel_artefacts
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import entry

LARGEST_FILE = 64 << 20
"""Bytes of a dumped file above which it is left out."""
TRIES = {"cuda": 6}
"""How often a program is compiled until it is the module that is shown; XLA's GPU compiler wavers between two."""
BUNDLES_FOLDER = "dump-llo"
"""In the worker's working directory, where libtpu dumps VLIW bundles."""


def dumped(
    prepared: Prepared, text: str, large_constants: bool, limits: Limits, progress: Progress | None
) -> tuple[KernelArtefacts, bool]:
    """The kernels of the recompiled program, and whether they are those of the module with this text.

    The inspection cache keeps those that are.
    """
    wanted = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    key = prepared.key("kernels", wanted)
    same = True

    def recompile() -> KernelArtefacts:
        nonlocal same
        answer = prepared.recompile(
            "kernels",
            limits,
            progress,
            wanted=wanted,
            large_constants=large_constants,
            tries=TRIES.get(prepared.target.platform, 1),
            largest=LARGEST_FILE,
        )
        head, parts, same = answer["head"], answer["parts"], bool(answer["same"])
        if key is not None and same:
            prepared.store(key, head, *parts)
        return kernel_artefacts.read(head, parts)

    artefacts, _ = prepared.once(key, _read_kernels, recompile, limits, progress)
    return artefacts, same


def final_bundles(prepared: Prepared, limits: Limits, progress: Progress | None) -> dict[str, list[str]]:
    """The VLIW bundles of each HLO instruction of a TPU program, from a process of their own."""
    key = prepared.key("bundles")

    def ask() -> list[tuple[str, bytes]]:
        how = {"lane": "one request", "variables": _dumps_bundles(prepared), "progress": progress}
        listed: list[tuple[str, bytes]] = prepared.ask("bundles", limits, how=how, folder=BUNDLES_FOLDER)
        if key is not None:
            prepared.store(key, {"names": [name for name, _ in listed]}, *(packed for _, packed in listed))
        return listed

    listed, _ = prepared.once(key, _read_bundles, ask, limits, progress)
    by_name: dict[str, list[str]] = {}
    for name, packed in listed:
        by_name.setdefault(name, []).append(text_of(packed))
    return by_name


def _read_kernels(head: Mapping[str, Any], parts: list[bytes]) -> KernelArtefacts:
    """What `dumped` made an entry of. Raises for anything else."""
    entry.check_inflated(parts)
    artefacts = kernel_artefacts.read(head, parts)
    a_kernel_of = {number: name for name, stages in head["kernels"].items() for number in stages.values()}
    if a_kernel_of.keys() != set(range(len(parts))):
        raise ValueError(f"{len(parts)} files, and {len(a_kernel_of)} with kernels")
    for number, name in a_kernel_of.items():
        if name.encode() not in entry.inflated(parts[number]):
            raise ValueError(f"a file that does not define kernel {name}")
    return artefacts


def _read_bundles(head: Mapping[str, Any], parts: list[bytes]) -> list[tuple[str, bytes]]:
    """What `final_bundles` made an entry of. Raises for anything else."""
    entry.check_inflated(parts)
    if (
        head.keys() != {"names"}
        or type(head["names"]) is not list
        or not all(isinstance(name, str) for name in head["names"])
    ):
        raise ValueError("not the names of bundles")
    if not all(entry.inflated(part).decode().endswith("\n") for part in parts):
        raise ValueError("bundles that do not end with a whole line")
    return list(zip(head["names"], parts, strict=True))


def _dumps_bundles(prepared: Prepared) -> dict[str, str]:
    """The environment of a process whose libtpu dumps bundles, by undocumented flags that it reads when loaded."""
    given = prepared.environment.variable("LIBTPU_INIT_ARGS")
    return {"LIBTPU_INIT_ARGS": f"{given} --xla_jf_dump_to={BUNDLES_FOLDER} --xla_jf_dump_llo_text=true".strip()}


def use(target: Target, tool: str, limits: Limits, progress: Progress | None = None, **what: Any) -> Any:
    """What a tool in the worker makes of machine code; see `worker.inside.compiler.Compiler.machine`."""
    request = {"method": "machine", "tool": tool, **what}
    return worker_requests.ask(target, request, limits, lane="recompile", progress=progress)


Measured = dict[str, dict[str, Any]]


def assembled(target: Target, ptx: Mapping[str, bytes], limits: Limits, progress: Progress | None) -> Measured:
    """PTX through ptxas; see `worker.inside.nvidia_tools.assemble`."""
    measured: Measured = use(target, "assemble", limits, progress, texts=dict(ptx), ptxas=packages.ptxas())
    return measured


def disassembled(target: Target, objects: Mapping[str, bytes], limits: Limits, progress: Progress | None) -> Measured:
    """CPU code as text, or just its size without a disassembler; see `worker.inside.disassemble.disassemble`."""
    arguments = {"objects": dict(objects), "disassembler": packages.disassembler()}
    measured: Measured = use(target, "disassemble", limits, progress, **arguments)
    return measured


def missing_tool(stage: str) -> str | None:
    """Why a stage, or the output of "ptxas", is not available here, with the pip command; None where it is."""
    if stage == "asm" and packages.disassembler() is None:
        return f"needs capstone or binutils' objdump: {CAPSTONE_PIP}"
    if stage in ("ptxas", "sass"):
        tools = {"ptxas": packages.ptxas()} | ({"nvdisasm": nvdisasm()} if stage == "sass" else {})
        if lacks := [name for name, path in tools.items() if not path]:
            return f"needs {' and '.join(lacks)} of the CUDA toolkit: {CUDA_PIP}"
    return None


def nvdisasm() -> str | None:
    """NVIDIA's disassembler; None where it is not installed."""
    return packages.nvdisasm()


def text_of(packed: bytes) -> str:
    """The text that was deflated; "" of nothing."""
    return entry.inflated(packed).decode("utf-8", "replace") if packed else ""
