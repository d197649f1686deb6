"""What is said of a program that was opened from the compile log."""

from __future__ import annotations

from jaxstage_ext.compilation.records.record_names import place_text
from jaxstage_ext.program.program import Program


def notes(program: Program) -> list[str]:
    """Where it comes from, and what the log does not keep."""
    if program.record is None:
        return []
    place = place_text(program.record)
    came = f"Opened from the compile log, #{program.record.number}{' at ' * bool(place)}{place}; nothing was compiled."
    needs = f"{came} Memory over time, passes and machine code take a recompile: %compile {program.name}(...)."
    written = [needs if program.executable is not None else came]
    if program.missing:
        written.append(f"The log did not keep the {' and the '.join(program.missing)}; %%compile the call to see it.")
    return written
