"""What the tools for language models say."""

from wordings import constants

from jaxstage_ext.agents import agent_wording as wording

SAID = {
    **constants(wording),
    "no such inspection": wording.no_inspection("inz", ["ins", "pod"]),
    "no inspection at all": wording.no_inspection("ins", []),
    "no such tool": wording.no_tool("run", ["inspections", "findings"]),
    "no such table": wording.no_table("costs", ["cost", "memory"]),
    "no such finding": wording.no_such_finding(7, 2),
    "no such argument": wording.no_argument("near", "node", ["name", "instruction", "hops"]),
    "no argument at all": wording.no_argument("inspections", "all", []),
    "missing argument": wording.missing_argument("near", "instruction"),
    "no text": wording.bad_argument("name", "str", ["ins"]),
    "no number": wording.bad_argument("limit", "int", "5"),
    "no truth value": wording.bad_argument("everything", "bool", 1),
    "failed": wording.failed(ValueError("hops must be\na whole number")),
    "failed without words": wording.failed(KeyError()),
    "which kernel": wording.which_kernel(["3f", "a0"]),
    "no such kernel": wording.no_such_kernel("b1", ["3f"]),
    "no kernel of that name": wording.no_such_kernel("b1", []),
    "busy": wording.busy(30),
}
