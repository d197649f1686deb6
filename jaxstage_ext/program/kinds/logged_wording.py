"""What is said of a program that was opened from the compile log."""

from __future__ import annotations

from jaxstage_ext.compilation.records.record_names import place_text
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.typed_forms import typed


def notes(program: Program) -> list[str]:
    """Where it comes from, and what the log does not keep."""
    if program.record is None:
        return []
    place = place_text(program.record)
    came = f"Opened from the compile log, #{program.record.number}{' at ' * bool(place)}{place}; nothing was compiled."
    again = typed(f"%compile {program.name}(...)", f"jaxstage_ext.inspect({program.name}, ...)")
    needs = f"{came} Memory over time, passes and machine code take a recompile: {again}."
    written = [needs if program.executable is not None else came]
    if program.missing:
        missing, inspect = " and the ".join(program.missing), typed("%%compile", "inspect")
        written.append(f"The log did not keep the {missing}; {inspect} the call to see it.")
    return written
