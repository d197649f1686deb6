"""The Program of a module's file: of HLO what it says, of StableHLO a call that starts at its lowering."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jaxstage_ext.core.given import module_files, text_protos
from jaxstage_ext.core.given.given_call import given_call
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.staged import COMPILE, LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import LOCAL, Target
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.ir.hlo import hlo_files
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm
from jaxstage_ext.program.comparing.earlier import by_label
from jaxstage_ext.program.kinds import module_bytes
from jaxstage_ext.program.kinds.file_program import FileProgram
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.file_names import shown


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
            f"the dump has no HLO of {shown(module.name)}{' before the passes' if targets else ''}; compile it with "
            "XLA_FLAGS='--xla_dump_hlo_as_proto'"
        )
    title = shown(path.name)
    data = module_bytes.read(path, title)
    form = hlo_files.form_of(data, path.name)
    if form is None:
        raise UnreadableModule(f"{title} is damaged: it begins with {data[:16]!r}")
    if targets:
        return opened(data, title, path, targets)
    return FileProgram(data, form, title, path, module)
