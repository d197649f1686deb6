"""What keeps a job of engines from being started, used or asked: one line each, for the user."""

from __future__ import annotations

from jaxstage_ext.report.deliberate_error import DeliberateError


class ProcessesError(DeliberateError, RuntimeError):
    """Something about the processes that the user can mend. Its text is one line."""


class NoJob(ProcessesError):
    """There are no processes to ask."""


class JobLost(ProcessesError):
    """The processes were there and cannot be reached any more, such as after the client was closed."""
