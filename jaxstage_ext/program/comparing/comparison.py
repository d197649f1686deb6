"""One call on several targets, side by side: does it fit, and what does it cost."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.memory.fit import Fits
from jaxstage_ext.program.comparing import comparison_wording
from jaxstage_ext.program.comparing.changed_figures import changed_figures
from jaxstage_ext.program.comparing.comparison_columns import COLUMNS, ESTIMATE
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.comparing.comparison_table import Comparison, TargetFigures
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.table import is_number
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
    programs = list(program.targets.values())
    is_of_one_report = all(one.saved_comparison is program.saved_comparison for one in programs)
    if program.saved_comparison is None or not is_of_one_report:
        rows = [_figures(target) for target in programs]
        return Comparison.of(program.name, rows, Parts().get("", lambda: _headline(programs, rows), ""))
    try:
        return Comparison.from_dict(program.saved_comparison)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("the saved inspection holds no comparison that can be read; inspect it again") from None


def _headline(programs: Sequence[Program], rows: Sequence[TargetFigures]) -> str:
    """What the comparison comes to: with an earlier version, with other options, or of targets."""
    before = next((at for at, one in enumerate(programs) if one.is_earlier), None)
    if before is not None and not programs[0].is_earlier:
        changed = changed_figures(programs[before], programs[0], rows[before], rows[0])
        return comparison_wording.against(rows[before].target, changed)
    if len(programs) > 1 and len({one.target.name for one in programs}) == 1:
        changed = changed_figures(programs[0], programs[-1], rows[0], rows[-1])
        return comparison_wording.against(rows[0].target, changed, rows[-1].target)
    if len(programs) < 2:
        return ""
    unfit = [row.target for row in rows if row.figures["fits"].value == Fits.NO.value]
    estimates, bounds = _known(rows, ESTIMATE), _known(rows, "time")
    if len(estimates) == len(rows):
        return comparison_wording.of_targets(estimates, [], unfit, are_estimates=True)
    unknown = [row.target for row in rows if row.target not in dict(bounds)]
    return comparison_wording.of_targets(bounds, unknown, unfit)


def _known(rows: Sequence[TargetFigures], name: str) -> list[tuple[str, float]]:
    """The targets with a figure that can be ranked among the others'."""
    each = [(row.target, row.figures[name]) for row in rows]
    return [(target, float(one.value)) for target, one in each if is_number(one.value) and not one.text]
