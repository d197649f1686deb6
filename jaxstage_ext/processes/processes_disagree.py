"""The one error with which a pre-flight stops every process."""

from __future__ import annotations

from jaxstage_ext.report.deliberate_error import DeliberateError


class ProcessesDisagree(DeliberateError, RuntimeError):
    """Processes of one job were about to run different programs, or one will not run a program that others wait in.

    The message has one line that says who, what and why, the lines that differ, and what to do.

    Attributes:
      report: the path of the file with the whole comparison, on the host that the message names; "" where it could not
        be written.
    """

    def __init__(self, message: str, report: str = "") -> None:
        super().__init__(message)
        self.report = report
