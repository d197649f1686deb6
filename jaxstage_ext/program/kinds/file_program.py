"""A module out of a file that another process wrote: what is known of it is what the file says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.layouts.layout_text import ArrayLayout
from jaxstage_ext.core.given import module_files
from jaxstage_ext.core.given.given_call import given_call
from jaxstage_ext.core.recompile.recompiled_buffers import Assigned
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.staged import COMPILE
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.ir.hlo import buffer_assignment, hlo_files
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm
from jaxstage_ext.program.program import NO_DEVICE, Program
from jaxstage_ext.report.unavailable import Unavailable

_MOST_TYPES = 6


class FileProgram(Program):
    """The module in a file: optimised, or of before XLA's passes.

    Attributes:
      path: of the file; None where it was given as bytes.
    """

    is_foreign = True
    own_device = "the device of the file"

    def __init__(
        self, data: bytes, form: ModuleForm, title: str, path: Path | None = None, dump: DumpedModule | None = None
    ) -> None:
        given = module_files.opened(data, form, title)
        [staged] = stages.plan_each(given_call(given), COMPILE, (LOCAL,))
        super().__init__(staged)
        self.path, self.file_title, self.dump = path, title, dump
        self._assignment = data if form is ModuleForm.HLO_PROTO else b""
        self.advance()
        text = self.executable.text or ""
        self.is_optimised = hlo_files.is_scheduled(text)
        self._compiled_for = (dump.platform if dump else "") or hlo_files.platform_of(text, path.name if path else "")

    @property
    def platform(self) -> str:
        """What it was compiled for, as far as the file tells."""
        return self._compiled_for or NO_DEVICE

    @property
    def own_title(self) -> str:
        return f"{self._compiled_for or 'unknown platform'} · {self.file_title}"

    @property
    def can_be_recompiled(self) -> bool:
        return False

    @property
    def is_compiled_here(self) -> bool:
        return False

    @property
    def own_signature(self) -> str:
        """`jit_loss(f32[64,64], f32[8,64]) -> f32[]`, as far as the module's first line says it."""
        text = self.executable.text or ""
        given, made = layout_text.of_entry(text[: text.find("\n")])
        if not made:
            return self.name
        return f"{self.name}({_types(given, 'parameters')}) -> {_result(made)}"

    @property
    def has_assignment(self) -> bool:
        """Whether the file holds a buffer assignment."""
        return bool(self._assignment) and self.results.once("has assignment", self._reads_assignment)

    def _reads_assignment(self) -> bool:
        return buffer_assignment.read(self._assignment) is not None

    def held_assignment(self) -> Assigned:
        if not self.has_assignment:
            raise Unavailable(
                f"{self.file_title} holds no buffer assignment; one is in *after_optimizations.hlo.pb, which XLA dumps "
                "with --xla_dump_hlo_as_proto"
            )
        return Assigned("cuda" if self._compiled_for == "gpu" else self._compiled_for, self._assignment, {})

    def held_dump(self) -> DumpedModule:
        if self.dump is None:
            self._not_of_a_dump()
        return self.dump

    def _not_of_a_dump(self) -> NoReturn:
        raise Unavailable(
            f"{self.file_title} is a file alone; open the folder that XLA dumped into for passes and machine code"
        )


def _types(layouts: Sequence[ArrayLayout], noun: str) -> str:
    return f"{len(layouts)} {noun}" if len(layouts) > _MOST_TYPES else ", ".join(layout.type for layout in layouts)


def _result(layouts: Sequence[ArrayLayout]) -> str:
    types = _types(layouts, "results")
    return types if len(layouts) == 1 or len(layouts) > _MOST_TYPES else f"({types})"
