"""What a process says of its compiles: plain data, which its engine sends to the notebook's kernel."""

from __future__ import annotations

from typing import TypedDict


class CompileRowForm(TypedDict):
    """One record of a process's compile log.

    Attributes:
      number: of the record in that process.   program: the function.   line: the user's.   is_eager: whether it is of
        an operation outside any jitted function.
      processes: those whose devices it was compiled for; empty where it was not compiled.
      began, ended: in seconds since 1970, by the clock of the process; `ended` is None where it still runs.
      trace, lower, compile: own seconds of each stage; None where it did not run.
      outcome: a `RecordOutcome`.   served_by: the caches of JAX that spared it a stage.
      cache: the name of a `CacheOutcome`, "" where the persistent cache was not asked; `cache_words` says it.
      key: in the persistent cache; "" where none was made.
    """

    number: int
    program: str
    signature: str
    line: str
    is_eager: bool
    processes: list[int]
    began: float
    ended: float | None
    trace: float | None
    lower: float | None
    compile: float | None
    outcome: str
    served_by: list[str]
    cache: str
    cache_words: str
    key: str


class ProcessLogForm(TypedDict):
    """The compile log of one process.

    Attributes:
      processes: how many the job has.   platform: of its devices, "cpu".   was_on: whether the log was kept before.
      now: its clock when it answered, in seconds since 1970.
      cache_folder: of the persistent cache, "" where none is in use.   left_out: older records that are not sent.
    """

    process: int
    processes: int
    host: str
    pid: int
    platform: str
    was_on: bool
    now: float
    cache_folder: str
    left_out: int
    rows: list[CompileRowForm]


class KeyForm(TypedDict):
    """What a key of the persistent cache was made of.

    Attributes:
      reason: why it is unknown; "" where it is known.
      parts: a digest of each `KeyPart`, by its name.   words: what small parts are, by name.
      options: the compile options by name; empty where they cannot be read.
    """

    reason: str
    parts: dict[str, str]
    words: dict[str, str]
    options: dict[str, str]


class CompileDetails(TypedDict):
    """Why a record came about.

    Attributes:
      why: in one sentence.   advice, code: what avoids it; "" where nothing is to be done.
      differences: what differs from the compile before, each as kind, name, before and now.
      facts: further facts, as pairs of a name and words.
    """

    why: str
    advice: str
    code: str
    differences: list[list[str]]
    facts: list[list[str]]
