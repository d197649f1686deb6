"""An instruction by its name, or by the id that rows of tables have; what was meant by a name that is not there."""

from __future__ import annotations

import difflib

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.near import near_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.rows.table_rows import identities

_MOST_COMPARED, _LONGEST = 2000, 200


def named_instruction(program: Program, name: str) -> int:
    """The row of an instruction in the module. Raises ValueError, in one line, with the nearest names."""
    module, wanted = program.module, str(name).removeprefix("%")
    if (row := _row(module, wanted)) >= 0:
        return row
    table = work(program).table
    ids = identities(table) if " " in wanted or ":" in wanted else []
    if wanted in ids:
        return _row(module, str(table["instruction"][ids.index(wanted)]))
    raise ValueError(wording.no_instruction(wanted, _nearest(module, wanted[:_LONGEST]), len(module)))


def _row(module: Module, name: str) -> int:
    encoded = name.encode("utf-8", "replace")
    return module.names.index(encoded) if encoded in module.names else -1


def _nearest(module: Module, name: str) -> list[str]:
    """The most alike: those that differ in their number first."""
    stem = _stem(name)
    names = [one.decode("utf-8", "replace") for one in module.names]
    alike = [one for one in names if stem and _stem(one) == stem]
    return alike[:8] or difflib.get_close_matches(name, names[:_MOST_COMPARED], 8, 0.5) or names[-4:]


def _stem(name: str) -> str:
    """A name without its number."""
    return name.rstrip(".0123456789")
