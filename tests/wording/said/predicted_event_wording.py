"""What is said of one event of a predicted timeline, and of its lanes."""

from wordings import constants

from jaxstage_ext.analysis.predicted import predicted_event_wording as wording
from jaxstage_ext.analysis.predicted.predicted_steps import CallStep, EstimateSource, Role, Stream
from jaxstage_ext.analysis.predicted.replay import Drawn

END = CallStep(3, "all-reduce-start", Role.END, Stream.COLLECTIVE, latency=670.14)
HIDDEN = CallStep(3, "all-reduce-start", Role.END, Stream.COLLECTIVE, at_most=173.3)


def said(drawn: Drawn) -> str:
    return "; ".join(f"{name}: {value}" for name, value in wording.details(drawn).items())


SAID = {
    **constants(wording),
    "group": wording.group("h100:8"),
    **{f"lane: {stream.value}": wording.lane(stream, 0) for stream in Stream},
    "lane: second": wording.lane(Stream.COLLECTIVE, 1),
    **{f"work: {by.value}": said(Drawn(CallStep(1, "dot", by=by), 0, 5, 1)) for by in EstimateSource},
    "work: in a loop": said(Drawn(CallStep(1, "dot"), 0, 5, 12)),
    "collective": said(Drawn(END, 0, 670, 1, waited=254.889)),
    "collective: hidden": said(Drawn(HIDDEN, 0, 173, 1)),
    "begin": said(Drawn(CallStep(1, "all-reduce-start", Role.BEGIN), 0, 1, 1, is_marker=True)),
    "end": said(Drawn(END, 0, 1, 1, is_marker=True)),
    "loop": said(Drawn(CallStep(4, "while.28", Role.LOOP, count=1200), 0, 400, 1)),
    "branch": said(Drawn(CallStep(4, "conditional.1", Role.LOOP, branches=2), 0, 400, 1)),
    "loop: of unknown length": said(Drawn(CallStep(4, "while.28", Role.LOOP, count=None), 0, 400, 1)),
}
