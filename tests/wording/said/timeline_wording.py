"""What a timeline says first."""

from wordings import constants

from jaxstage_ext.profiling.analysis import timeline_wording as wording
from jaxstage_ext.profiling.analysis.headline import Bound, Headline
from jaxstage_ext.profiling.analysis.host_activity import HostCause, HostDoing
from jaxstage_ext.report.recording import HostLine, Loss, Lost

LINE, HOST = "In [2]:3", "In [2]:9"
PYTHON, NO_CODE = HostLine("train.py", 9, "main", "next(batches)"), HostLine("train.py", 9, "main")


def said(bound: Bound = Bound.DEVICE, devices: int = 1, idle: float = 0.0, **facts: object) -> str:
    usual = {"line": LINE, "line_share": 0.6, "op": "fusion.3", "op_share": 0.4, "attributed": 1.0}
    return wording.sentence(Headline(bound, devices, idle=idle, **{**usual, **facts}))  # type: ignore[arg-type]


def idle(cause: HostCause, line: HostLine | None = None, name: str = "", share: float = 0.8, **facts: bool) -> str:
    return said(Bound.HOST, 1, 0.4, doing=HostDoing(cause, name, line, share, **facts), host_line=HOST)


SAID = {
    **constants(wording),
    "nothing": said(Bound.NOTHING),
    "cut": said(Bound.CUT),
    "ranges of one warp": said(Bound.RANGES, op="mma", recorders=1),
    "ranges of 8 warps": said(Bound.RANGES, op="mma", recorders=8),
    "a line": said(),
    "a library line": said(is_library=True),
    "an operation": said(line="", op="a_very_long_name_" * 5),
    "a command buffer": said(line="", op="command_buffer_1"),
    "neither": said(line="", op=""),
    "an inferred line": said(is_inferred=True),
    "work without events": said(unrecorded=0.6),
    "work without events that changes nothing": said(unrecorded=0.2, is_least=True),
    "work without events of which line is unknown": said(unrecorded=0.2, is_least=True, may_trail=True),
    "kept, with work without events": wording.coverage(100, 100, 0.9, True, 0.3),
    "without an event": wording.without_event(0.3),
    "programs that still ran": said(idle=0.99, unfinished=True),
    "never idle, two devices": said(devices=2),
    "hardly idle": said(idle=0.001),
    "always idle": said(idle=0.999),
    "exposed collectives and copies": said(exposed_collective=0.2, exposed_copy=0.1),
    "work of no line": said(attributed=0.7),
    "one program many times": said(Bound.HOST, 1, 0.9, repeated="leapfrog", calls=1200),
    "one program many times, which the device takes": said(repeated="leapfrog", calls=1200),
    "many short gaps": said(Bound.LAUNCH, 1, 0.4, gaps=1200, typical_gap=2e-5),
    **{f"idle, the host: {cause.name}": idle(cause) for cause in HostCause},
    **{f"idle, the host in a line: {cause.name}": idle(cause, PYTHON) for cause in HostCause},
    "idle, the host in a line that is unknown": idle(HostCause.LINE, NO_CODE, "$train.py:9 main"),
    "idle, the host fetches input": idle(HostCause.LINE, PYTHON, is_input=True, share=0.3),
    "idle, the host compiles by name": idle(HostCause.COMPILE, None, "backend_compile"),
    **{f"does: {cause.name}": wording.doing(HostDoing(cause, "$event")) for cause in HostCause},
    "lost": [*wording.losses([Lost(Loss.OVERFULL, 1, "SM 3"), Lost(Loss.CUT, None)] + 8 * [Lost(Loss.DROPPED, 9)])],
    "kept all": wording.coverage(100, 100, 0.9, True),
    "kept some, no work": wording.coverage(1_000_000, 2_000_000, 0.0, False),
}
