"""Findings as rows of plain JSON types, for programs: figures as numbers with their unit, unknown as null."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.findings.finding import Finding


def finding_row(finding: Finding) -> dict[str, Any]:
    """One finding: what is so, where, what there is to gain, what to change, and how sure that is."""
    stake = finding.stake
    return {
        "id": " ".join(filter(None, [finding.line, finding.kind.value, *finding.names])),
        "kind": finding.kind.value,
        "line": finding.line,
        "text": finding.text,
        "stake": {
            "of": stake.measure.value,
            "unit": stake.measure.unit,
            "least": stake.least,
            "most": stake.most,
            "whole": stake.whole,
            "share": stake.share,
        },
        "names": list(finding.names),
        "change": finding.change.code if finding.change is not None else "",
        "can_be_tried": finding.can_be_tried,
        "certainty": finding.certainty.value,
        "caveat": finding.caveat,
        "read_more": finding.kind.read_more,
    }
