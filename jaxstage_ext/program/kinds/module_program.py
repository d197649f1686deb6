"""The Program of a module's file: of HLO what it says, of StableHLO a call that starts at its lowering."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.layouts.layout_text import ArrayLayout
from jaxstage_ext.core.given import module_files, text_protos
from jaxstage_ext.core.given.given_call import given_call
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.core.recompile.recompiled_buffers import Assigned
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import LOCAL, Target
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.ir.hlo import buffer_assignment, hlo_files
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome import unpacking
from jaxstage_ext.profiling.unreadable import TooLarge, UnreadableProfile
from jaxstage_ext.program.comparing.earlier import by_label
from jaxstage_ext.program.program import NO_DEVICE, Program
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable


def opened(
    data: bytes, title: str, path: Path | None = None, targets: Sequence[Target] = (), entry: str = ""
) -> Program:
    """The program of a module, for the first of the targets; without one it is not compiled.

    `entry` is the function of StableHLO that is meant, where there are several and none is `main`.
    Raises UnreadableModule where it is none, is damaged, or is compiled HLO and a target is named; SeveralModules where
    it is not known which function is meant.
    """
    form = hlo_files.form_of(data, path.name if path else "")
    if form is None:
        raise UnreadableModule(f"{title} is no module of HLO or StableHLO: it begins with {data[:16]!r}")
    if form is ModuleForm.HLO_TEXT_PROTO:
        data, form = text_protos.module_of(data, title or form.value), ModuleForm.HLO_PROTO
    if form in (ModuleForm.HLO_PROTO, ModuleForm.HLO_TEXT) and not targets:
        return FileProgram(data, form, title or form.value, path)
    return of_given(module_files.opened_for_compile(data, form, title or form.value, entry), targets)


def of_given(given: GivenObject, targets: Sequence[Target] = ()) -> Program:
    """The program of what a file holds, for the first of the targets; without one it is not compiled."""
    call = given_call(given)
    compiled_for = [cross_compile.isolated(target) for target in targets]
    for target in compiled_for:
        cross_compile.check(target)
    planned = stages.plan_each(call, COMPILE if targets else LOWER, compiled_for or (LOCAL,))
    programs = [Program(staged) for staged in planned]
    for program in by_label(programs).values():
        program.advance()
    return programs[0]


def of_dump(module: DumpedModule, targets: Sequence[Target] = ()) -> Program:
    """The program of a module in a dump, or of what it was before the passes, compiled for the first of the targets.

    Raises UnreadableModule where the dump has no HLO of it, or a damaged one, and OSError where it cannot be read.
    """
    path = module.module_file(before_passes=bool(targets))
    if path is None:
        raise UnreadableModule(
            f"the dump has no HLO of {shown_name(module.name)}{' before the passes' if targets else ''}; compile it "
            "with XLA_FLAGS='--xla_dump_hlo_as_proto'"
        )
    title = shown_name(path.name)
    data = read(path, title)
    form = hlo_files.form_of(data, path.name)
    if form is None:
        raise UnreadableModule(f"{title} is damaged: it begins with {data[:16]!r}")
    if targets:
        return opened(data, title, path, targets)
    return FileProgram(data, form, title, path, module)


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


def read(source: Path | bytes, title: str) -> bytes:
    """The bytes of a file, or of what such a file holds.

    Raises UnreadableModule where it is damaged, too large or not a file, and OSError where it cannot be read.
    """
    try:
        data = source if isinstance(source, bytes) else opening.contents(source)
        return unpacking.unpacked(data, title)
    except TooLarge:
        most = scaled(unpacking.MOST_BYTES, "B")
        raise UnreadableModule(f"{title} is larger than {most}, the most that is read of a module") from None
    except UnreadableProfile as error:
        raise UnreadableModule(str(error)) from None
