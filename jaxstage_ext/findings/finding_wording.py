"""What is said of findings in general: what there is to gain, what a trial showed, and what was looked for."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.findings.finding import Finding, Stake, StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.comparing.paired_figures import PairedFigure
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import duration, plural, scaled, share, signed

CANNOT_BE_TRIED = "this change has to be made by hand; inspect the changed function and compare"
CHANGED = "with the change"


NO_CHANGE_KNOWN = "no change is known that saves it"


def gain(finding: Finding) -> str:
    """What the change of a finding saves; that none is known, where there is none."""
    if finding.change is None and finding.stake.most is None and finding.stake.measure.unit:
        return NO_CHANGE_KNOWN
    return stake(finding.stake)


def stake(stake: Stake) -> str:
    """`saves 16.8 MB, 49% of the memory needed`; a range where only its ends are known."""
    if stake.measure is StakeMeasure.REPEATABILITY:
        return "two runs may differ"
    if not stake.measure.unit:
        return "the result may not be what you mean"
    if stake.most is None and stake.least:
        return f"saves at least {_amount(stake.least, stake.measure.unit)} of {stake.measure.value}"
    if stake.most is None:
        return f"saves an unknown part of {stake.measure.value}"
    most = _amount(stake.most, stake.measure.unit)
    if stake.least is None or not stake.least:
        amount = f"up to {most}"
    elif stake.least == stake.most:
        amount = most
    else:
        amount = f"{_amount(stake.least, stake.measure.unit)} to {most}"
    part = "" if stake.share is None else f", {share(stake.share)} of {stake.measure.value}"
    return f"saves {amount}{part}" if part else f"saves {amount} of {stake.measure.value}"


def _amount(value: float, unit: str) -> str:
    counted = (StakeMeasure.LAUNCHES.unit, StakeMeasure.DISPATCHES.unit)
    return f"{value:,.0f} {unit}" if unit in counted else scaled(value, unit)


def in_short(finding: Finding, tried: str = "") -> str:
    """One paragraph, whose beginning is told where there is no room: what there is to gain, or in `tried` what a trial
    showed; where, and what is so.
    """
    where = f"{finding.line}: " if finding.line and not finding.text.startswith(finding.line) else ""
    saves = gain(finding)
    could = f"{_could(saves)}." if saves != NO_CHANGE_KNOWN and finding.stake.measure.unit else ""
    return " ".join(part for part in (tried or could, f"{where}{finding.text}") if part)


def _could(saves: str) -> str:
    return f"Could save{saves.removeprefix('saves')}"


_MOST_LINES = 4


def change_in_short(finding: Finding) -> list[str]:
    """The first lines to write, the first behind an arrow; none where no change is known."""
    lines = [line for line in finding.change.lines if line.strip()] if finding.change else []
    is_words = all(line.startswith("# ") for line in lines)  # and no code beside them
    lines = [line.removeprefix("# ") if is_words or at == 0 else line for at, line in enumerate(lines)]
    more = ["…"] if len(lines) > _MOST_LINES else []
    return [f"{'→' if at == 0 else ' '} {line}" for at, line in enumerate([*lines[:_MOST_LINES], *more])]


def in_full(finding: Finding, tried: str = "") -> str:
    """The paragraph with the change, how sure it is, and where to read more."""
    lines = [f"[{finding.kind.value}] {in_short(finding, tried)}"]
    if finding.change is not None:
        lines += [f"    {line}" for line in finding.change.code.splitlines()]
    lines += [finding.caveat] if finding.caveat else []
    if finding.can_be_tried and not tried:
        lines.append("Compile the change: .try_()")
    return "\n".join(lines)


def _titles(kinds: Sequence[FindingKind]) -> str:
    return ", ".join(kind.value for kind in kinds)


def nothing_found(looked: Sequence[FindingKind]) -> str:
    """That there is no finding, and what was looked for."""
    if not looked:
        return "Nothing was looked for."
    return f"Nothing found among {plural(len(looked), 'kind')} looked for: {_titles(looked)}."


def nothing_found_in(looked: int) -> str:
    """The same in brief."""
    return f"Nothing found among {plural(looked, 'kind')} looked for (.findings lists them)."


NOT_LOOKED = "This program is large: open Findings to look for what to change."


def nothing_yet(kinds: Sequence[FindingKind]) -> str:
    """That nothing was found but for kinds that take a compile."""
    return f"Nothing found yet; not looked for: {_titles(kinds)}."


def more_in(count: int) -> str:
    """How many findings a form leaves out that shows other things too."""
    return f"{plural(count, 'more finding')}: .findings, or the Findings tab."


def more(count: int) -> str:
    """How many findings are not shown."""
    return f"{plural(count, 'more finding')}."


def waiting(kinds: Sequence[FindingKind], seconds: float | None) -> str:
    """What was not looked for, and what that takes."""
    takes = "" if seconds is None else f", up to about {duration(seconds)}"
    return f"Not looked for yet ({_titles(kinds)}): .findings.all() compiles once more for them{takes}."


COMPILE_LOG = "compile log"


def session(found: int, programs: int, compiles: int, seconds: float) -> str:
    """How much of a session was looked at."""
    looked = [plural(programs, "inspection")] if programs else []
    looked += [f"{plural(compiles, 'compile')} ({duration(seconds)})"] if compiles else []
    if not looked:
        inspect = typed("%%compile", "inspect")
        return f"There is no inspection yet, and nothing was compiled: {inspect} a call, then ask again."
    among = " and ".join(looked)
    return f"{plural(found, 'finding')} in {among}." if found else f"Nothing found in {among}."


def waiting_in_session(kinds: Sequence[FindingKind]) -> str:
    """What was not looked for in every program."""
    how = typed("%findings --all", ".findings.all() of each")
    return f"Not looked for in every program yet ({_titles(kinds)}): {how} compiles for them."


def outcome(outcome: TrialOutcome, gained: float | None, stake: Stake, costs: Sequence[PairedFigure] = ()) -> str:
    """What the compiled change gains of the stake's measure and whole, and the figures that it makes worse."""
    unit, measured = stake.measure.unit, stake.measure.value
    if outcome is TrialOutcome.UNKNOWN and not unit:
        return "Tried: it makes another program."
    amount = "" if gained is None or not unit else _amount(abs(gained), unit)
    part = f", {share(gained / stake.whole)}" if gained and gained > 0 and stake.whole else ""
    worse = "; " + ", ".join(f"{one.title} {difference(one)}" for one in costs) if costs else ""
    return {
        TrialOutcome.PAYS: f"Tried: it saves {amount}{part} of {measured}{worse}.",
        TrialOutcome.WORSE: f"Tried: it adds {amount} to {measured}, so leave it.",
        TrialOutcome.NO_GAIN: f"Tried: it saves nothing of {measured}.",
        TrialOutcome.NO_CHANGE: "Tried: no change in HLO.",
        TrialOutcome.UNKNOWN: "Tried: what it saves is unknown.",
    }[outcome]


def does_not_compile(error: StageError) -> str:
    """Why a change could not be tried."""
    first = next(iter(error.message.strip().splitlines()), "")
    return f"the changed program fails to {error.stage}: {error.type}: {first}"


def figure(figure: Figure, unit: str) -> str:
    """One figure of a trial."""
    if figure.value is None:
        return "unknown"
    if figure.text:
        return figure.text
    if isinstance(figure.value, str):
        return figure.value
    return scaled(float(figure.value), unit) if unit else f"{figure.value:,}"


def difference(pair: PairedFigure) -> str:
    """By how much a figure grew; "" where that is not known."""
    change = pair.difference
    if change is None:
        return ""
    return signed(change, pair.unit) if pair.unit else signed(int(change))
