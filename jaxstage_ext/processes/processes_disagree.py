"""The one error with which a pre-flight stops every process."""

from __future__ import annotations

import json

from jaxstage_ext.processes.disagreement import DisagreementCause
from jaxstage_ext.report.deliberate_error import DeliberateError


class ProcessesDisagree(DeliberateError, RuntimeError):
    """Processes of one job were about to run different programs, or one will not run a program that others wait in.

    The message has one line that says who, what and why, the lines that differ, and what to do.

    Attributes:
      cause: why, as far as the programs and source lines tell.
      line: the user's line that explains it, "train.py:12"; "" where none is known.
      report: the path of the file with the whole comparison, on the host that the message names; "" where it could not
        be written.
    """

    def __init__(
        self,
        message: str,
        cause: DisagreementCause = DisagreementCause.UNKNOWN,
        line: str = "",
        report: str = "",
    ) -> None:
        super().__init__(message)
        self.cause, self.line, self.report = cause, line, report

    def to_json(self) -> str:
        """What the other processes raise it from."""
        return json.dumps([str(self), self.cause.value, self.line, self.report])

    @staticmethod
    def from_json(text: str) -> ProcessesDisagree:
        """The error of a `to_json`."""
        message, cause, line, report = json.loads(text)
        return ProcessesDisagree(message, DisagreementCause(cause), line, report)
