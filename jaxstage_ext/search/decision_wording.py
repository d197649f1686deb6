"""What a decision of a layout is worth, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.report.text.units import duration, scaled
from jaxstage_ext.search.layout_result import CompiledState, CompileEffort, Decision, DecisionKind
from jaxstage_ext.search.own_blame import Blame

_KINDS = {
    CollectiveKind.ALL_REDUCE: "all-reduce",
    CollectiveKind.REDUCE_SCATTER: "reduce-scatter",
    CollectiveKind.ALL_GATHER: "all-gather",
    CollectiveKind.ALL_TO_ALL: "all-to-all",
    CollectiveKind.PERMUTE: "exchange with neighbours",
}


def sentence(decision: Decision) -> str:
    """`splitting hidden and heads over model=2 saves 18 ms of gradient all-reduce as compiled and 1.2 GB of arguments
    per device`; what is not of compiles is `an estimated 18 ms`.
    """
    over = f"{decision.axis}={decision.size}"
    if decision.kind is DecisionKind.STORE and not decision.dimensions:
        subject = f"storing parameters over {over}"
    else:
        subject = f"splitting {listed(decision.dimensions)} over {over}"
    fits = "; without it the layout does not fit" if decision.without is CompiledState.DOES_NOT_FIT else ""
    return f"{subject} {_worth(decision)}{fits}"


def without(decision: Decision) -> str:
    """`the layout without parameters stored over fsdp`."""
    what = "parameters stored" if decision.kind is DecisionKind.STORE else listed(decision.dimensions)
    return f"the layout without {what} over {decision.axis}"


def _worth(decision: Decision) -> str:
    saved: list[str] = []
    costs: list[str] = []
    if decision.seconds:
        (saved if decision.seconds > 0 else costs).append(_time(decision, abs(decision.seconds)))
    if decision.bytes:
        of_arguments = f"{scaled(abs(decision.bytes), 'B')} of arguments per device"
        (saved if decision.bytes > 0 else costs).append(of_arguments)
    parts = [f"{verb} {' and '.join(what)}" for verb, what in (("saves", saved), ("costs", costs)) if what]
    return " and ".join(parts) or "changes nothing"


def _time(decision: Decision, seconds: float) -> str:
    """`an estimated 18 ms of computation`; `18 ms of all-gather as compiled`."""
    said = duration(seconds) + _of(decision)
    if decision.effort is None:
        return f"an estimated {said}"
    return f"{said} as compiled{' at low effort' if decision.effort is CompileEffort.LOW else ''}"


def _of(decision: Decision) -> str:
    if decision.of is None:
        return " of computation"
    return f" of {'gradient ' if decision.is_gradient else ''}{_KINDS[decision.of]}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a, b and c`; of many the first, `a, b, c and 5 more`."""
    shown = [*names[: most - 1], f"{len(names) - most + 1} more"] if len(names) > most else [*names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def blamed(blame: Blame) -> str:
    """`w is sharded P('data', None); P(None, 'data') saves an estimated 5 ms and 1 GB of arguments per device`."""
    saved = [f"an estimated {duration(blame.seconds)}"] if blame.seconds and blame.seconds > 0 else []
    saved += [f"{scaled(blame.bytes, 'B')} of arguments per device"] if blame.bytes > 0 else []
    first, *others = blame.groups
    own = f"{_arguments(first.names)} {'are' if len(first.names) > 1 else 'is'} sharded {spec_text(first.spec)}"
    own += "".join(f" and {_arguments(one.names)} {spec_text(one.spec)}" for one in others)
    better = " with ".join(spec_text(one.better) for one in blame.groups)
    worth = f"saves {' and '.join(saved)}" if saved else "is no slower"
    return f"{own}; {better} {worth}"


def _arguments(names: Sequence[str]) -> str:
    """`params['w']`; `params['w'] and 2 more like it`, a parameter and its moments."""
    return listed(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more like it"


def against_best(decision: Decision) -> str:
    """`the best layout differs most by this: splitting hidden over model=4 saves an estimated 32 ms of all-reduce`."""
    return f"the best layout differs most by this: {sentence(decision)}"


def spec_text(spec: tuple[tuple[str, ...], ...] | None) -> str:
    """`P('data', None)`, or "as the compiler chooses"."""
    if spec is None:
        return "as the compiler chooses"
    entries = [None if not axes else axes[0] if len(axes) == 1 else axes for axes in spec]
    while entries and entries[-1] is None:
        entries.pop()
    return f"P({', '.join(map(repr, entries))})"
