"""What failed assertions about compiled programs say."""

from wordings import constants

from jaxstage_ext.testing import assertion_wording as wording

SAID = {
    **constants(wording),
    "failed": wording.failed("step", "v5e:2x4", "1 all-gather, at most 0 allowed", ["train.py:7: all-gather of 8 MB"]),
    "failed with many lines": wording.failed("step", "cpu", "too much", ["a line"] * 14),
    "too many": wording.too_many("all-gather", 2, 0),
    "too much": wording.too_much("the memory needed", 15e9, 14e9, "B"),
    "unknown": wording.unknown("the FLOPs", "a custom call"),
    "unknown without a reason": wording.unknown("the FLOPs", ""),
    "finding": wording.has_finding("missing donation", 1),
    "not all looked for": wording.not_all_looked_for(2),
    "not looked for": wording.not_looked_for("promotion", wording.NOT_TRACED),
    "no argument": wording.no_argument("parms", ["params", "batch"]),
    "no argument at all": wording.no_argument("x", []),
    "not donated": wording.not_donated("params", 1, 2),
    "leaf": wording.leaf("params['w']", "f32[8]", "not donated"),
    "sends too much": wording.sends_too_much(8e6, 4e6),
    "no line": wording.no_line("x @ w", ["train.py:7"]),
    "no line at all": wording.no_line(3, []),
    "an amount of bytes": wording.bad_quantity("14 gallons", "B"),
    "an amount of work": wording.bad_quantity("much", "FLOP"),
    "no kind": wording.no_kind("allgather", ["all-gather", "all-reduce"]),
}
