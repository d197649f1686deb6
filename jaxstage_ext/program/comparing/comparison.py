"""One call on several targets, side by side: does it fit, and what does it cost."""

from __future__ import annotations

from jaxstage_ext.program.comparing.comparison_columns import COLUMNS
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.comparing.comparison_table import Comparison, TargetFigures
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.view_parts import Parts


def _figures(program: Program) -> TargetFigures:
    """The figures of one target; where they fail, why, and the others are compared all the same."""
    parts, name = Parts(), program.label
    figures = parts.get(name, lambda: target_figures(program), None)
    if figures is not None:
        return figures
    return TargetFigures(name, name, dict.fromkeys(COLUMNS, Figure(None, parts.failures[0])), parts.failures[0])


def comparison(program: Program) -> Comparison:
    """The call's targets side by side, one a row; a target whose stages have not ended says so.

    Raises ValueError where a saved program holds no comparison that can be read.
    """
    if program.saved_comparison is None:
        return Comparison.of(program.name, [_figures(target) for target in program.targets.values()])
    try:
        return Comparison.from_dict(program.saved_comparison)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("the saved inspection holds no comparison that can be read; inspect it again") from None
