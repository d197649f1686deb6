"""How a request to a compile worker can fail."""

from __future__ import annotations


class WorkerDied(RuntimeError):
    """A request that the worker did not survive.

    Attributes:
      cause: "signal", "exit", "stopped", "time limit", "memory limit", "disk limit", "junk" or "start".
      summary: the message without the log.    log: the last lines that the worker printed.
    """

    def __init__(self, message: str, cause: str, log: str = "") -> None:
        super().__init__(f"{message}. The last lines of its log:\n{log}" if log else message)
        self.summary, self.cause, self.log = message, cause, log


class RequestFailed(RuntimeError):
    """XLA's own error, from a worker that goes on. `type` is the name of its class."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.type = type_


class LeftIdle(Exception):
    """The worker had exited by itself, for want of requests, when one was sent."""


class OverLimit(Exception):
    """A limit was exceeded during a request; `cause` as in `WorkerDied`."""

    def __init__(self, message: str, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


class PipeClosed(Exception):
    """The worker's end of the pipe is closed."""
