"""Which passes ran, from the log of XLA's pass pipeline; it names those that changed nothing too, with their times.

A worker that recompiles has an environment in which XLA writes these lines, whatever the platform:

    I1121 13:21:36.964749   17750 hlo_pass_pipeline.cc:303] Running HLO pass pipeline on module jit_f: fusion
    I1121 13:21:36.964812   17750 hlo_pass_pipeline.cc:211]   HLO pass dce
    I1121 13:21:36.964898   17750 hlo_pass_pipeline.cc:206] HLO pass: dce time: 86 us (86 us) (cumulative: ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(
    r"^I\d{4} [\d:.]+ +(?P<thread>\d+) hlo_pass_pipeline\.cc:\d+\] +(?:"
    r"Running HLO pass pipeline on module (?P<module>.+?): (?P<pipeline>.+)"
    r"|HLO pass: (?P<done>.{1,400}?) time: .{0,400}?\((?P<us>\d+) us\).*"
    r"|HLO pass (?P<begun>.+))$",
    re.MULTILINE,
)


class Ran(NamedTuple):
    """One pass, in the order in which passes end; or, where `name` is empty, the begin of a pipeline.

    `next` is the pass that the pipeline runs after it, "" the last; `group` says that it is a pipeline itself.
    """

    pipeline: str
    name: str = ""
    seconds: float | None = None
    next: str = ""
    group: bool = False


def read(log: str, module: str) -> list[Ran]:
    """What ran for the module of that name, which may have an ending; nothing where the log tells nothing."""
    lines = list(_LINE.finditer(log))
    names = {line["module"] for line in lines if f"{module}.".startswith(f"{line['module']}.")}
    name = max(names, key=len, default="")
    threads = {line["thread"] for line in lines if line["module"] == name} if name else set()
    return _with_next(list(_ran([line for line in lines if line["thread"] in threads], name)))


def _ran(lines: list[re.Match[str]], module: str) -> Iterator[Ran]:
    """Pipelines and ended passes. A pipeline may be a pass of another one, and of another module's."""
    inside: list[str] = [""]
    open_passes: list[tuple[str, bool]] = []
    for line in lines:
        if line["module"]:
            inside[-1] = line["pipeline"] if line["module"] == module else ""
            open_passes[:] = [*open_passes[:-1], (open_passes[-1][0], True)] if open_passes else []
            if inside[-1]:
                yield Ran(inside[-1])
        elif line["begun"]:
            open_passes.append((line["begun"], False))
            inside.append("")
        elif line["done"] in [name for name, _ in open_passes]:
            name, group = "", False
            while name != line["done"]:
                name, group = open_passes.pop()
                inside.pop()
            if inside[-1]:
                yield Ran(inside[-1], name, int(line["us"]) / 1e6, group=group)


def _with_next(ran: list[Ran]) -> list[Ran]:
    """A pass's successor in the same run of its pipeline."""
    following: dict[str, str] = {}
    result = []
    for this in reversed(ran):
        if this.name:
            result.append(this._replace(next=following.get(this.pipeline, "")))
            following[this.pipeline] = this.name
        else:
            result.append(this)
            following.pop(this.pipeline, None)
    return result[::-1]
