"""The tools, as `jupyter_server_mcp` registers them: functions of this module in Jupyter's server, by name.

Their docstrings are what a language model reads of them.
"""

from __future__ import annotations

from typing import Any

from jaxstage_ext.agents.kernel_question import SECONDS, TRIAL_SECONDS, ask


async def jaxstage_inspections(kernel: str = "") -> str:
    """List the JAX programs that were inspected in a notebook's kernel, by variable name. Read-only.

    Start here. `kernel` is a kernel's id; leave it out where one runs.
    """
    return await ask(kernel, SECONDS, tool="inspections")


async def jaxstage_inspection(name: str, kernel: str = "") -> str:
    """Verdict, figures and findings of one inspected program in at most 2 kB. Read-only.

    `name` is a variable of the notebook, from jaxstage_inspections.
    """
    return await ask(kernel, SECONDS, tool="inspection", name=name)


async def jaxstage_findings(name: str, limit: int = 5, everything: bool = False, kernel: str = "") -> str:
    """What to change in a program, the most to gain first, as JSON: line, stake with unit, edit, certainty. Read-only.

    An unknown figure is null, never 0. Try a finding with jaxstage_try before you edit. With `everything` the kinds of
    `not_looked_for` are looked for too, which compiles the program once more and runs nothing.
    """
    seconds = TRIAL_SECONDS if everything else SECONDS
    return await ask(kernel, seconds, tool="findings", name=name, limit=limit, everything=everything)


async def jaxstage_table(
    name: str, table: str, limit: int = 10, by: str = "", where: dict[str, Any] | None = None, kernel: str = ""
) -> str:
    """Rows of a table of a program as JSON, with units, reasons of unknowns and totals of what was left out. Read-only.

    Tables: cost, cost by line, cost by scope, equations, memory, collectives, dtypes, shardings, layouts, effects,
    answers, options. `by` is the column to order by, the most first; `where` has values by column.
    """
    return await ask(kernel, SECONDS, tool="table", name=name, table=table, limit=limit, by=by, where=where)


async def jaxstage_near(name: str, instruction: str, hops: int = 1, kernel: str = "") -> str:
    """Operands, users, source lines and costs around an HLO instruction, in at most 4 kB. Read-only.

    `instruction` is its name, or the `id` of a row of jaxstage_table, which survives an edit.
    """
    return await ask(kernel, SECONDS, tool="near", name=name, instruction=instruction, hops=hops)


async def jaxstage_try(name: str, finding: int = 0, kernel: str = "") -> str:
    """Compile the change of a finding beside the program as written, and say what it really gains. Runs nothing.

    `finding` is its place in jaxstage_findings, from 0. "No change in HLO" means: stop.
    """
    return await ask(kernel, TRIAL_SECONDS, tool="try", name=name, finding=finding)


async def jaxstage_compare(name: str, before: str, kernel: str = "") -> str:
    """Figures of two inspected programs side by side, and how their stages differ. Read-only.

    `before` is the variable of the earlier one.
    """
    return await ask(kernel, SECONDS, tool="compare", name=name, before=before)


async def jaxstage_open(path: str, kernel: str = "") -> str:
    """A saved inspection, HLO module or profile in short; the kernel reads the file. Read-only."""
    return await ask(kernel, SECONDS, tool="open", path=path)


TOOLS = [
    f"{__name__}:{tool.__name__}"
    for tool in (
        jaxstage_inspections,
        jaxstage_inspection,
        jaxstage_findings,
        jaxstage_table,
        jaxstage_near,
        jaxstage_try,
        jaxstage_compare,
        jaxstage_open,
    )
]
"""What the entry point gives."""
