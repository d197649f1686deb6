"""The rows of `ins.kernels`: what was dumped, tied to the HLO instructions that run it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jaxstage_ext.core.recompile import machine_code
from jaxstage_ext.ir.hlo.executed import Instruction, shape
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts, Launch
from jaxstage_ext.program.machine_code.kernel_listing import MOSAIC_GPU, PALLAS
from jaxstage_ext.program.machine_code.kernel_types import STAGES, Kernel
from jaxstage_ext.report.document import Document

NO_KERNEL = "not a kernel of this program, but a step that a library or XLA's runtime does"
MOSAIC_CALL = "custom-call to tpu_custom_call"
AT_LOAD = "Mosaic GPU compiles it where the program is loaded on its GPU, from the module that its Mosaic text is of"
_NOT_MOSAIC_GPU = "not a kernel of Mosaic GPU"
_NOT_TRITON = "not a Triton kernel; XLA emits LLVM IR for it"
_NOT_MOSAIC = "not a Pallas kernel; libtpu compiles it from HLO"
_NOT_DUMPED = "XLA dumped none for it"
_IN_HLO = f"{_NOT_DUMPED}; the HLO's backend_config holds it as MLIR bytecode"
NOT_FOUND = "XLA compiles such a step itself, but dumped no kernel by its name"
_GENERATED = ("loop fusion", "input fusion", "output fusion")
_SILENT = ("While", "Conditional", "Sequential", "CommandBuffer", "AsyncStart", "AsyncDone", "DynamicSliceFusion")
"""Steps of a GPU program that only run others."""
_NOT_IN_SYMBOLS = re.compile(r"\W")


def named_by(artefacts: KernelArtefacts) -> frozenset[str]:
    """The instructions that CPU kernels are named after: "dot.3" and "dot.3_kernel" after dot.3."""
    return frozenset(name for symbol in artefacts.kernels for name in (symbol, symbol.removesuffix("_kernel")))


def of_cpu(artefacts: KernelArtefacts, executed: Mapping[str, Instruction], hlo: Document) -> list[Kernel]:
    """A row for each kernel, of the instruction that it is named after, and for each step that has none."""
    run_by: dict[str, list[str]] = {name: [] for name in artefacts.kernels}
    left = []
    for instruction in executed.values():
        symbols = [name for name in (instruction.name, f"{instruction.name}_kernel") if name in run_by]
        for symbol in symbols:
            run_by[symbol].append(instruction.name)
        if instruction.computes and not symbols:
            left.append(instruction)
    shared = _shared(run_by, [instruction for instruction in left if instruction.kind in _GENERATED], executed, hlo)
    others = [
        _without(instruction.name, instruction.kind, "cpu", executed)
        for instruction in left
        if instruction.name not in shared
    ]
    rows = [_row(symbol, names, "cpu", artefacts, executed) for symbol, names in run_by.items()]
    return in_order([*rows, *others], executed)


def _shared(
    run_by: dict[str, list[str]], left: list[Instruction], executed: Mapping[str, Instruction], hlo: Document
) -> set[str]:
    """Give each instruction that has no kernel of its own that of one that computes the same; XLA emits such once."""
    kernel_of: dict[str, str] = {}
    for symbol, names in run_by.items() if left else ():
        for name in names:
            kernel_of.setdefault(shape(executed[name], hlo), symbol)
    done = set()
    for instruction in left:
        own = kernel_of.get(shape(instruction, hlo))
        if own is not None:
            run_by[own].append(instruction.name)
            done.add(instruction.name)
    return done


def of_cuda(artefacts: KernelArtefacts, executed: Mapping[str, Instruction]) -> list[Kernel]:
    """A row for each kernel, run by one instruction or several, and for each step that has none.

    The list of steps names no kernel for collectives that XLA writes itself; these are called as their instruction.
    """
    launches: dict[str, list[Launch]] = {name: [] for name in artefacts.kernels}
    others = []
    steps = artefacts.launches or _launches_by_name(artefacts, executed)
    named = {launch.kernel for launch in steps}
    for launch in steps:
        symbol = launch.kernel or _NOT_IN_SYMBOLS.sub("_", launch.instruction)
        if symbol in launches and (launch.kernel or symbol not in named):
            launches[symbol].append(launch)
        elif launch.kind not in _SILENT and launch.instruction:
            instruction = executed.get(launch.instruction)
            others.append(
                _without(launch.instruction, instruction.kind if instruction else launch.kind, "cuda", executed)
            )
    rows = []
    for symbol, runs in launches.items():
        names = list(dict.fromkeys(run.instruction for run in runs if run.instruction))
        rows.append(_row(symbol, names, "cuda", artefacts, executed, runs[0] if runs else None))
    return in_order([*rows, *others], executed)


def _launches_by_name(artefacts: KernelArtefacts, executed: Mapping[str, Instruction]) -> list[Launch]:
    """Where the dump has no list of launches: a kernel is called as its instruction, in the letters of a symbol."""
    symbols = {name: _NOT_IN_SYMBOLS.sub("_", name) for name, instruction in executed.items() if instruction.computes}
    kernels = artefacts.kernels
    return [Launch(name, "", symbol if symbol in kernels else None) for name, symbol in symbols.items()]


def of_tpu(executed: Mapping[str, Instruction]) -> list[Kernel]:
    """A row for each instruction: libtpu compiles one after the other, all into one program."""
    rows = []
    for instruction in executed.values():
        if instruction.computes:
            pallas = instruction.kind == MOSAIC_CALL
            stages = {"mosaic": None if pallas else _NOT_MOSAIC, "bundles": None}
            rows.append(
                Kernel(
                    instruction.name,
                    (instruction.name,),
                    "Pallas" if pallas else instruction.kind,
                    stages,
                    rows=instruction.rows,
                )
            )
    return rows


def in_order(rows: list[Kernel], executed: Mapping[str, Instruction]) -> list[Kernel]:
    """By the first instruction that runs it; those that none runs come last."""
    places = {name: place for place, name in enumerate(executed)}
    return sorted(
        rows, key=lambda row: min((places.get(n, len(places)) for n in row.instructions), default=len(places))
    )


def _row(
    symbol: str,
    names: list[str],
    platform: str,
    artefacts: KernelArtefacts,
    executed: Mapping[str, Instruction],
    launch: Launch | None = None,
) -> Kernel:
    texts = artefacts.kernels[symbol]
    kind = next((executed[name].kind for name in names if name in executed), "not in this module")
    return Kernel(
        symbol,
        tuple(names),
        PALLAS.get(kind) or ("Triton fusion" if "ttir" in texts else kind),
        {stage: _lacks(stage, texts, kind) for stage in STAGES[platform]},
        grid=launch.grid if launch else (),
        threads=launch.threads if launch else (),
        rows=_rows(names, executed),
    )


def _lacks(stage: str, texts: Mapping[str, bytes], kind: str) -> str | None:
    if stage in texts:
        return None
    if stage == "mosaic":
        return _NOT_MOSAIC_GPU
    if stage == "ttir":
        return _IN_HLO if kind in PALLAS else _NOT_TRITON
    needs = {"asm": "object", "sass": "ptx"}.get(stage)
    return machine_code.missing_tool(stage) if needs in texts else _NOT_DUMPED


def _without(name: str, kind: str, platform: str, executed: Mapping[str, Instruction]) -> Kernel:
    kind = PALLAS.get(kind, kind)
    stages: dict[str, str | None] = dict.fromkeys(STAGES[platform], why_none(kind))
    if kind == MOSAIC_GPU and "mosaic" in stages:
        stages["mosaic"] = None
    return Kernel("", (name,), kind, stages, rows=_rows([name], executed))


def why_none(kind: str) -> str:
    """Why an instruction of this kind has no kernel."""
    if kind == MOSAIC_GPU:
        return AT_LOAD
    return NOT_FOUND if kind in _GENERATED else NO_KERNEL


def _rows(names: list[str], executed: Mapping[str, Instruction]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted({stretch for name in names if name in executed for stretch in executed[name].rows}))
