"""What is said of reshardings and of values that every device gathers whole, in words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from jaxstage_ext.analysis.collectives import collective_wording
from jaxstage_ext.analysis.collectives.collective_causes import CollectiveCause, Use
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.report.text.units import scaled


class ReshardingAdvice(Enum):
    """What can be done about a warning."""

    ASKED = (
        "The program asks for this sharding here. If it is not worth the communication, produce the value with that "
        "sharding, or drop the constraint."
    )
    RESULT = "The sharding of the result asks for this: change out_shardings, or leave it to the compiler."
    AVOID = (
        "To avoid it: give the value the sharding of its use where it is produced (in_shardings of an argument, "
        "jax.lax.with_sharding_constraint), or shard the operation that uses it the way the value is sharded."
    )
    IN_STEPS = (
        "To avoid it: change one mesh axis at a time (two calls of jax.lax.with_sharding_constraint), or produce the "
        "value with the sharding of its use."
    )


def resharding(cause: CollectiveCause) -> str:
    """`Resharding: `max` is sharded P('data'), but `dot_general` uses it with P('model').`"""
    value, users = _code(cause.values), _code(cause.users)
    user = " and ".join(filter(None, [users, "the result" if cause.is_result else ""])) or "its use"
    inferred = " (inferred)" if cause.inferred else ""
    if not cause.before:
        why = f" ({cause.why_unknown})" if cause.why_unknown else ""
        return f"Resharding: {value} for {user}; the shardings are unknown{why}{inferred}."
    before = collective_wording.before(cause)
    if before == collective_wording.after(cause):
        return f"Resharding: {value} is sharded {before}, as is {user}, which needs more of it per device{inferred}."
    uses = f", but {user} {' or '.join(map(_use, cause.after))}" if cause.after else ""
    return f"Resharding: {value} is sharded {before}{uses}{inferred}."


def _code(names: Sequence[str]) -> str:
    return ", ".join(names)


def _use(use: Use) -> str:
    return f"uses it with {use.beside} to compute {use.spec}" if use.beside else f"needs it as {use.spec}"


def cost(names: Sequence[str], rows: Sequence[CollectiveRow], line: str) -> str:
    """What reshardings send together, left out where one of them is unknown, and the line that causes them."""
    first = rows[0]
    axes = f" over {', '.join(map(str, first.groups.axes))}" if first.groups.axes else ""
    sizes = [row.total_sent for row in rows]
    times = [row.total_seconds for row in rows]
    sent = f", {scaled(_sum(sizes), 'B')} sent by each device" if None not in sizes else ""
    time = f", at least {scaled(_sum(times), 's')}" if None not in times else ""
    total = " in total" if len(rows) > 1 else ""
    cause = f", caused by {line}" if line else ""
    return f"{collective_wording.listed(names, ', ')}: {first.op.kind}{axes}{sent}{time}{total}{cause}."


def _sum(values: Sequence[float | None]) -> float:
    return sum(value for value in values if value is not None)
