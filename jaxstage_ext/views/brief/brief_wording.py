"""What the short forms for language models say."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.units import plural

MORE = "More (ins is this inspection; nothing below runs your function):"
TRY = "ins.findings[0].try_() compiles that change and says what it gains"
ROWS = 'ins.cost.to_json(limit=10, by="bytes read"), ins.cost.by("line").to_json(limit=10)'
NEAR = 'ins.near("{name}") has the neighbourhood of an instruction'
ASK = "ins.answers, ins.memory, ins.collectives, ins.dtypes, ins.shardings: each has .to_json(limit=10) or is a table"
NO_FINDING = "Findings: none among what was looked for."
NOT_LOOKED = "Findings: not looked for yet, ins.findings does."
NOTHING_COMPILED = "Nothing was compiled: inspect with stage='compile' for cost, memory and findings."
NOT_MEASURED = "What bounds it? Unknown until this machine's CPU is measured: ins.answers does, in about a second."
TIMELINE_MORE = "More (t is this timeline):"
TIMELINE_TABLES = "t.by_line(), t.by_op(), t.by_kernel(), t.gaps(), t.steps(): each has .to_json(limit=10)"


def head(signature: str, target: str, stages: Sequence[str]) -> str:
    """What was inspected."""
    return f"JAXStage inspection of {signature}\nfor {target}; stages: {', '.join(stages)}"


def targets(labels: Sequence[str]) -> str:
    """The other targets of the call."""
    return f"Targets: {', '.join(labels)}; ins.compare(), ins.targets[{labels[-1]!r}]"


def found(count: int) -> str:
    """How many findings there are."""
    return f"{plural(count, 'finding')}, the most to gain first:"


def more_found(shown: int) -> str:
    """Where the other findings are."""
    return f"ins.findings[{shown}:] has the others"


def waiting(kinds: Sequence[str]) -> str:
    """What was not looked for."""
    return f"Not looked for yet: {', '.join(kinds)}; ins.findings.all() compiles once more for them"
