"""Programs that were opened from the compile log."""

from typing import Any

from compile_records import compile_record, step

from jaxstage_ext.compilation.records.compile_record import Artefacts
from jaxstage_ext.program.kinds.logged_program import LoggedProgram
from jaxstage_ext.program.kinds.logged_wording import notes

ANY: Any = object()
LINE = compile_record().user_line
JAXPR, NOTHING = Artefacts(jaxpr=ANY), Artefacts()


class Compiled(LoggedProgram):
    """One whose executable was kept."""

    executable = ANY
    missing = ()


def of(artefacts: Artefacts, line: Any = LINE, kind: type[LoggedProgram] = LoggedProgram) -> list[str]:
    return notes(kind(compile_record(number=7, name=step.__name__, artefacts=artefacts, user_line=line)))


SAID = {
    "compiled": of(JAXPR, kind=Compiled),
    "no line, the executable is gone": of(JAXPR, None),
    "everything is gone": of(NOTHING),
}
