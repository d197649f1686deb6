"""What is said of a call that several processes have staged."""

from __future__ import annotations

from dataclasses import replace

from said.preflight_wording import BRANCH, SWAPPED

from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.processes.disagreement import DisagreementCause
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import StagingError, StagingErrorKind

KIND = StagingErrorKind
ERRORS = {
    "raised": StagingError(KIND.RAISED, "ValueError", "bad batch", "In [3]:7", stage="trace"),
    "raised without words": StagingError(KIND.RAISED, "AssertionError", "", "In [3]:7"),
    "refused": StagingError(KIND.REFUSED, "", "nothing to compile in this cell; end the cell with the call to compile"),
    "not defined": StagingError(KIND.NAME, "NameError", "name 'params' is not defined", "In [3]:7", "params"),
    "gone": StagingError(KIND.ENDED, "", "killed by SIGKILL"),
    "not reached": StagingError(KIND.UNREACHED, "ModuleNotFoundError", "No module named 'jaxstage_ext'"),
    "fewer calls": StagingError(KIND.REFUSED, "", wording.NO_SUCH_CALL),
}
SAID = {
    "alike": [wording.alike((0, 1, 2, 3), stage) for stage in ("trace", "lower", "compile")],
    "one alone": wording.alike((2,), "compile"),
    "who compiled": [
        wording.read_from(0, (1, 2, 3)),
        *(wording.each_compiled((0, 1), why) for why in Sharing if why is not Sharing.READ),
        wording.NO_PROCESS,
    ],
    "the same error": [wording.alike_error((0, 1)), wording.alike_error((0,))],
    "of one process": wording.own_program((0, 1)),
    "not compared": wording.not_compared((0, 1)),
    "whose program": wording.shown((0, 2), (0, 1, 2)),
    "differ": [*wording.difference(BRANCH, is_shared=True), *wording.difference(SWAPPED, is_shared=False)],
    "next steps": [
        wording.next_step(replace(BRANCH, cause=cause))
        for cause in (DisagreementCause.ERROR, DisagreementCause.UNKNOWN)
    ],
    **{f"error, {name}": wording.failed((1,), error) for name, error in ERRORS.items()},
    "printed": [wording.printed((0, 1), "hello", is_of_all) for is_of_all in (True, False)],
    "its objects are there": wording.elsewhere(1),
    "it keeps it no more": wording.gone(1),
    "it cannot be asked": [wording.lost(1, ""), wording.lost(1, "it was killed by SIGKILL")],
    "it is busy": wording.busy(1),
    "no such process": [wording.unasked((0, 7), 4), wording.unasked((1,), 1)],
    "refused with it": [wording.RUN, wording.VERSUS, wording.AWAITS, wording.INTERRUPTED],
}
