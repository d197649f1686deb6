"""The machine code of a program, kernel by kernel."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jaxstage_ext.core.given import dumped_module, lacking_stage
from jaxstage_ext.core.inputs import constants
from jaxstage_ext.core.recompile import machine_code, preparation
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.core.targets.target import Target, parse
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.ir.hlo import executed
from jaxstage_ext.ir.hlo.executed import Instruction
from jaxstage_ext.ir.machine import assembly, kernel_text, ptx
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts
from jaxstage_ext.ir.machine.kernel_text import KernelPlace
from jaxstage_ext.program.device.target_title import target_platform
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.machine_code import kernel_rows
from jaxstage_ext.program.machine_code.kernel_types import Figures, Kernel, Kernels
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import GRADIENT, INFERRED, Document
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def kernels(program: Program, progress: Progress | None) -> Kernels:
    """The kernels of a program; what each takes and its texts wait until they are asked for.

    Raises:
      Unavailable: where nothing was compiled, or the worker cannot compile it.
      TargetError, WorkerDied, JaxRuntimeError: as a compile in the worker does.
    """
    if not program.has_hlo or program.executable is None:
        how = lacking_stage.how_to_compile(program.call) if program.is_of_file else "compile it again"
        raise Unavailable(f"{program.name} was not compiled here, so there is no machine code; {how}")
    return KernelTexts(program).kernels(progress)


_DIFFERENT_MODULE = (
    "Recompiling produced a different module, as can happen on GPUs; these are its kernels, matched by the "
    "names of its instructions"
)
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_NO_BUNDLES = "libtpu dumps no bundles for it; it is part of another instruction or no code at all"
_NOT_ASKED = "bundles are counted once they were asked for: libtpu takes seconds to dump them"


class KernelTexts:
    """Where the texts and figures of a program's kernels come from; each is kept once it was asked for."""

    def __init__(self, program: Program) -> None:
        self._dumped = program.held_dump()
        self._prepared = None if self._dumped is not None else preparation.prepared(program.staged)
        self._target, self._limits = _target(program, self._prepared), program.limits
        self._platform = self._target.platform
        self._hlo, self._table = program.documents["hlo"], program.frame_table
        self._large_constants = constants.spelled_out(program.jax_traced)
        self._module = program.module
        self._executed: Mapping[str, Instruction] = {}
        self._rows: list[Kernel] = []
        self._parts: Mapping[str, Mapping[str, bytes]] = {}
        self._launched: dict[str, int] = {}
        self._kept: dict[str, Document] = {}
        self._measured: dict[str, dict[str, Any]] | None = None
        self._bundles: dict[str, list[str]] | None = None
        self._lock = threading.RLock()

    def kernels(self, progress: Progress | None) -> Kernels:
        notes = []
        if self._platform == "tpu":
            self._executed = executed.read(self._module, self._hlo)
            self._rows = kernel_rows.of_tpu(self._executed)
        else:
            artefacts, same = self._artefacts(progress)
            whole = kernel_rows.named_by(artefacts) if self._platform == "cpu" else ()
            self._executed = executed.read(self._module, self._hlo, whole)
            if self._platform == "cuda":
                self._rows = kernel_rows.of_cuda(artefacts, self._executed)
            else:
                self._rows = kernel_rows.of_cpu(artefacts, self._executed, self._hlo)
            self._parts = artefacts.kernels
            for launch in artefacts.launches:
                if launch.kernel is not None and launch.shared is not None:
                    self._launched[launch.kernel] = max(self._launched.get(launch.kernel, 0), launch.shared)
            notes += [] if same else [_DIFFERENT_MODULE]
            notes += [f"left out, above {machine_code.LARGEST_FILE >> 20} MB: {name}" for name in artefacts.left_out]
            notes += [f"left out, damaged: {name}" for name in artefacts.damaged]
        return Kernels(self._platform, self._rows, self, notes)

    def _artefacts(self, progress: Progress | None) -> tuple[KernelArtefacts, bool]:
        """The machine code, and whether it is that of the module that is shown."""
        if self._dumped is not None:
            return dumped_module.code(self._dumped, progress), True
        assert self._prepared is not None
        return machine_code.dumped(self._prepared, self._hlo.text, self._large_constants, self._limits, progress)

    def document(self, kernel: Kernel, stage: str, progress: Progress | None = None) -> Document:
        with self._lock:
            kind = f"{stage}:{kernel.key}"
            if kind not in self._kept:
                self._kept[kind] = self._read(kernel, stage, progress)
            return self._kept[kind]

    def ready(self, kind: str) -> Document | None:
        return self._kept.get(kind)

    def _read(self, kernel: Kernel, stage: str, progress: Progress | None) -> Document:
        kind, place = f"{stage}:{kernel.key}", self._place(kernel)
        if stage == "mosaic":
            return self._mosaic(kernel, kind)
        if stage == "bundles":
            return assembly.read_bundles(kind, self._bundle_text(kernel, progress), place)
        if stage == "asm":
            return assembly.read_cpu(kind, self._measurement(kernel, "text"), place)
        if stage == "sass":
            cubin, nvdisasm = self._measurement(kernel, "cubin"), machine_code.nvdisasm()
            text = machine_code.use(self._target, "sass", self._limits, cubin=cubin, nvdisasm=nvdisasm)
            return assembly.read_sass(kind, text, kernel.name, place)
        text = machine_code.text_of(self._parts[kernel.name][stage])
        reader = {
            "llvm0": kernel_text.read_llvm,
            "llvm": kernel_text.read_llvm,
            "ptx": ptx.read,
            "ttir": kernel_text.read_mlir,
        }[stage]
        return reader(kind, text, place)

    def _place(self, kernel: Kernel) -> KernelPlace:
        """The source of the instruction that runs the kernel; of several the first's, and then inferred."""
        rows = [row for name in kernel.instructions if (row := self._row(name)) >= 0]
        if not rows:
            return KernelPlace(self._hlo.frames)
        row, flags = rows[0], int(self._hlo.flags[rows[0]]) & (INFERRED | GRADIENT)
        spans = {str(self._hlo.source_of(numbered_row + 1)) for numbered_row in rows}
        scope = int(self._hlo.scope[row])
        return KernelPlace(
            self._hlo.frames,
            int(self._hlo.frame[row]),
            flags | (INFERRED if len(spans) > 1 else 0),
            self._hlo.scopes[scope] if scope >= 0 else "",
        )

    def _row(self, instruction: str) -> int:
        executed = self._executed.get(instruction)
        return executed.row if executed else -1

    def _mosaic(self, kernel: Kernel, kind: str) -> Document:
        line = self._hlo.lines[self._row(kernel.instructions[0])]
        if self._platform == "cuda":
            return self._mosaic_gpu(kernel, kind, line)
        config = _backend_config(line).get("custom_call_config", {})
        if "body" not in config:
            raise Unavailable(f"{kernel.key} has no Mosaic module in its backend_config")
        asked = {"body": config["body"], "debug_locations": config.get("debug_locations")}
        text, located = machine_code.use(self._target, "mosaic", self._limits, **asked)
        return stablehlo.read(text, located, self._table, kind)

    def _mosaic_gpu(self, kernel: Kernel, kind: str, line: str) -> Document:
        """Its module has no lines of the source, so that all of it has that of the instruction."""
        if (module := _mlir_string(line, "module")) is None:
            raise Unavailable(f"{kernel.key} has no Mosaic module in its backend_config")
        text, _ = machine_code.use(self._target, "mosaic_gpu", self._limits, module=base64.b64encode(module).decode())
        return kernel_text.read_mlir(kind, text, self._place(kernel))

    def _bundle_text(self, kernel: Kernel, progress: Progress | None) -> str:
        if self._prepared is None:
            raise Unavailable(f"{kernel.key} has no VLIW bundles: a dump does not hold them")
        if self._bundles is None:
            self._bundles = machine_code.final_bundles(self._prepared, self._limits, progress)
        if kernel.name not in self._bundles:
            raise Unavailable(f"{kernel.key} has no VLIW bundles: {_NO_BUNDLES}")
        return "\n".join(self._bundles[kernel.name])

    def _measurement(self, kernel: Kernel, what: str) -> Any:
        measured = self._measurements().get(kernel.name, {})
        if what not in measured:
            raise Unavailable(f"{kernel.key}: {measured.get('error', 'there is no machine code of it')}")
        return measured[what]

    def measure(self, progress: Progress | None = None) -> None:
        tool = _TOOLS.get(self._platform)
        if tool and not (tool.needs and machine_code.missing_tool(tool.needs)):
            self._measurements(progress)

    def _measurements(self, progress: Progress | None = None) -> dict[str, dict[str, Any]]:
        """What ptxas or a disassembler says of every kernel, asked once."""
        with self._lock:
            if self._measured is None:
                tool = _TOOLS[self._platform]
                parts = {name: part[tool.reads] for name, part in self._parts.items() if tool.reads in part}
                self._measured = tool.do(self._target, parts, self._limits, progress) if parts else {}
            return self._measured

    def figures(self, row: Kernel) -> Figures:
        if not row.name:
            return Figures(reason=kernel_rows.why_none(row.kind))
        return {"cpu": self._cpu_figures, "cuda": self._cuda_figures, "tpu": self._tpu_figures}[self._platform](row)

    def _cpu_figures(self, row: Kernel) -> Figures:
        measured, lacks = self._measurements().get(row.name, {}), machine_code.missing_tool("asm")
        reason = f"counting instructions {lacks}" if lacks else None
        return Figures(code_bytes=measured.get("bytes"), instructions=measured.get("count"), reason=reason)

    def _cuda_figures(self, row: Kernel) -> Figures:
        if lacks := machine_code.missing_tool("ptxas"):
            return Figures(reason=lacks)
        measured = self._measurements().get(row.name, {})
        resources = ptx.resources(measured.get("log", "")).get(row.name)
        if resources is None:
            return Figures(reason=measured.get("error", "ptxas says nothing about it"))
        return Figures(
            registers=resources.registers,
            spill_stores=resources.spill_stores,
            spill_loads=resources.spill_loads,
            stack=resources.stack,
            shared=resources.shared + self._launched.get(row.name, 0),
            code_bytes=measured["bytes"],
            instructions=measured["count"],
        )

    def _tpu_figures(self, row: Kernel) -> Figures:
        if self._bundles is None:
            return Figures(reason=_NOT_ASKED)
        if row.name not in self._bundles:
            return Figures(reason=_NO_BUNDLES)
        return Figures(instructions=sum(assembly.count_bundles(text) for text in self._bundles[row.name]))


def _target(program: Program, prepared: Prepared | None) -> Target:
    """The target whose worker reads machine code; for a dump any of its platform will do."""
    if prepared is not None:
        return prepared.target
    platform = target_platform(program)
    if platform not in _ANY_TARGET:
        raise Unavailable(f"{program.name}: the dump does not say for which platform it was compiled")
    return parse(_ANY_TARGET[platform])


_ANY_TARGET = {"cpu": "cpu:1", "cuda": "h100", "tpu": "v5e:2x2"}


class _Tool(NamedTuple):
    reads: str
    needs: str | None
    do: Callable[[Any, Mapping[str, bytes], Any, Progress | None], machine_code.Measured]


_TOOLS = {
    "cpu": _Tool("object", None, machine_code.disassembled),
    "cuda": _Tool("ptx", "ptxas", machine_code.assembled),
}


def _mlir_string(line: str, name: str) -> bytes | None:
    """A string of an MLIR dictionary in an instruction's backend_config, whose bytes are escaped as two hex digits."""
    found = re.search(rf'\b{name} = "((?:[^"\\]|\\.)*+)"', line)
    if found is None:
        return None
    return _ESCAPED.sub(lambda one: bytes.fromhex(one[1].decode()) if len(one[1]) == 2 else one[1], found[1].encode())


def _backend_config(line: str) -> dict[str, Any]:
    """An instruction's backend_config out of its line of text, where it is JSON."""
    _, _, config = line.partition("backend_config=")
    try:
        value = json.JSONDecoder().raw_decode(config)[0]
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
