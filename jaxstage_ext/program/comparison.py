"""One call on several targets, side by side: does it fit, and what does it cost."""

from __future__ import annotations

from jaxstage_ext.program.comparison_figures import target_figures
from jaxstage_ext.program.comparison_table import Comparison
from jaxstage_ext.program.program import Program


def comparison(program: Program) -> Comparison:
    """The call's targets side by side, one a row; a target whose stages have not ended says so.

    Raises ValueError where a saved program holds no comparison that can be read.
    """
    if program.saved_comparison is None:
        return Comparison.of(program.name, [target_figures(target) for target in program.targets.values()])
    try:
        return Comparison.from_dict(program.saved_comparison)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("the saved inspection holds no comparison that can be read; inspect it again") from None
