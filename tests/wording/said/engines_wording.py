"""Starting, using and ending jobs of engines."""

from __future__ import annotations

from jaxstage_ext.processes.engines import engines_wording as wording
from jaxstage_ext.processes.engines.engine_answer import EngineFailure, FailureKind

RAISED = EngineFailure(FailureKind.RAISED, "ValueError", "bad batch\nand more", ("Traceback",))
ENDING = wording.has_ended(wording.process(1), 4711, wording.killed("SIGKILL"), "")
SAID = {
    "no job": wording.NO_JOB,
    "no ipyparallel": wording.NO_LIBRARY,
    "starting": [
        wording.starting(1, wording.CONTROLLER),
        wording.starting(3, wording.engines_to_come(1, 2)),
        wording.starting(4, wording.JOINING),
    ],
    "started": [wording.started((1, 1), 5.1), wording.started((1, 2), 5.1)],
    "cancelled": wording.CANCELLED,
    "not started": [
        wording.not_started(ENDING),
        wording.not_started(wording.has_ended(wording.CONTROLLER, 4712, wording.exit_status(1), "OSError: no space")),
        wording.not_started(wording.failed(1, RAISED)),
        wording.took_too_long(60.0, wording.engines_to_come(0, 2)),
        wording.ports_taken(3),
        wording.deadlock("0.10.2"),
    ],
    "there is one": [wording.runs_already(2, is_ours) for is_ours in (True, False)],
    "not a client": [wording.not_a_client(is_defined) for is_defined in (True, False)],
    "cannot be used": [
        wording.NO_ENGINES,
        wording.SEVERAL_JOBS,
        wording.some_joined([0]),
        wording.ran_jax([0, 1]),
        wording.NOT_OURS,
    ],
    "differ": [wording.differs(field, {0: "a", 1: ""}) for field in ("jax", "jaxlib", "xla_flags", "platform")],
    "some of them": wording.other_processes(2, 4),
    "ended": [wording.was_ended(index) for index in (0, 1)],
    "no answer of one": [
        wording.failed(1, RAISED),
        wording.failed(1, EngineFailure(FailureKind.DIED, message="killed by SIGKILL")),
        wording.unanswered(1, EngineFailure(FailureKind.DIED, message="killed by SIGKILL")),
        wording.failed(
            1, EngineFailure(FailureKind.NOT_INSTALLED, "ModuleNotFoundError", "No module named 'jaxstage_ext'")
        ),
    ],
    "closed": wording.CLIENT_CLOSED,
    "stopped": [wording.stopped(2, is_ours) for is_ours in (True, False)],
    "guard": [wording.guard(is_on) for is_on in (True, False)],
    "not all answered": wording.NO_ANSWER,
}
