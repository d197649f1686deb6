"""The sentence that heads a comparison: what is worse, by how much, and because of which line."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.program.comparing.changed_figures import ChangedFigure
from jaxstage_ext.report.text.cell_text import cell
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import scaled

_MOST = 4


def against(name: str, changed: Sequence[ChangedFigure], other: str = "") -> str:
    """How a program compares with the one called `name`; `other` is its own name, "" where that is plain."""
    worse = sorted((one for one in changed if one.is_worse), key=_how_much, reverse=True)
    better = sorted((one for one in changed if not one.is_worse), key=_how_much)
    whose = f"{other} is " if other else ""
    if not worse and not better:
        return f"{other or 'It'} has the figures of {name}."
    parts = [f"worse than {name} in {_listed(worse)}"] if worse else []
    parts += [f"better {'' if worse else f'than {name} '}in {_listed(better)}"] if better else []
    said = f"{whose}{'; '.join(parts)}."
    return f"{said[0].upper()}{said[1:]}" if not other else said


def of_targets(
    times: Sequence[tuple[str, float]], unknown: Sequence[str], unfit: Sequence[str], are_estimates: bool = False
) -> str:
    """Targets by their lower bounds, or XLA's estimates, those where it is unknown, and those that are too small."""
    said = [f"Does not fit on {some(unfit, _MOST)}."] if unfit else []
    order = sorted(times, key=lambda one: one[1])
    if len(order) > 1:
        least = order[0][1]
        others = ", ".join(_beside(name, seconds, least) for name, seconds in order[1 : _MOST + 1])
        more = ", …" if len(order) > _MOST + 1 else ""
        title = "Fastest by XLA's estimate" if are_estimates else "Least lower bound"
        said.append(f"{title}: {order[0][0]}, {scaled(least, 's')}; {others}{more}.")
        said += [f"Unknown on {some(unknown, _MOST)}."] if unknown else []
    return " ".join(said)


def _beside(name: str, seconds: float, least: float) -> str:
    times = f" ({_ratio(seconds / least)})" if least else ""
    return f"{name} {scaled(seconds, 's')}{times}"


def _listed(changed: Sequence[ChangedFigure]) -> str:
    more = f" and {len(changed) - _MOST} more" if len(changed) > _MOST else ""
    return "; ".join(map(_one, changed[:_MOST])) + more


def _one(changed: ChangedFigure) -> str:
    """`FLOPs: 16.8 MFLOP, was 8.4 MFLOP (2×), most by In [4]:3`."""
    times = f" ({_ratio(changed.after / changed.before)})" if changed.before else ""
    line = f", most by {changed.line}" if changed.line else ""
    return (
        f"{changed.title}: {cell(changed.after, changed.unit)}, was {cell(changed.before, changed.unit)}{times}{line}"
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.3g}×"


def _how_much(changed: ChangedFigure) -> float:
    return changed.after / changed.before if changed.before else float("inf")
