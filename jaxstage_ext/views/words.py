"""The words of a panel's header, the same in every static form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.text.terminal import clean
from jaxstage_ext.report.text.units import duration, plural, share

if TYPE_CHECKING:
    from jaxstage_ext.program.head.summary_form import FigureSummary, StageSummary, Summary


def stage(run: StageSummary) -> str:
    """`compile 81 ms (from JAX's persistent cache)`, `lower failed`."""
    seconds, state = run.get("seconds"), run["state"]
    words = [run["name"]]
    if state != "done":
        words.append(state)
    if seconds is not None:
        words.append(duration(seconds))
    elif state == "done":
        words.append("unknown time")
    if run.get("note"):
        words.append(f"({run['note']})")
    return clean(" ".join(words))


def options(summary: Summary) -> list[str]:
    """`xla_cpu_enable_fast_math=True`: the compile options that were set."""
    return [clean(f"{name}={value}") for name, value in (summary.get("options") or {}).items()]


def counts(summary: Summary) -> list[str]:
    """`34 eqns`, `41 ops`: what the finished stages hold."""
    return [clean(count) for stage in summary["stages"] if (count := stage.get("count"))]


def fact(figure: FigureSummary) -> str:
    """`peak memory 0.3 MB`, `FLOPs unknown (the backend gives no cost analysis)`."""
    why = f" ({figure['reason']})" if figure["text"] == "unknown" and figure.get("reason") else ""
    return clean(f"{figure['label']} {figure['text']}{why}")


def linked(summary: Summary) -> str:
    """`96% of instructions linked to source lines (480 direct, 60 inferred, of 583)`; "" where nothing was counted."""
    coverage = summary.get("coverage")
    if not coverage or not coverage["total"]:
        return ""
    kinds = [KINDS[document["kind"]] for document in summary["documents"] if document["kind"] in KINDS]
    noun = next((kind.operations for kind in reversed(kinds) if kind.operations), "lines")
    counts_of = {"direct": coverage["direct"], "library": coverage.get("library", 0), "inferred": coverage["inferred"]}
    links, total = sum(counts_of.values()), coverage["total"]
    each = [f"{n:,} {kind}" for kind, n in counts_of.items() if n or kind != "library"]
    return f"{share(links / total)} of {noun} linked to source lines ({', '.join(each)}, of {total:,})"


def error(summary: Summary) -> tuple[str, list[str]]:
    """What failed and where in one line; what that means where it is known, and the message's lines; else ("", [])."""
    failed = summary.get("error")
    if not failed:
        return "", []
    where = f" at {failed['label']}:{failed['line']}" if failed.get("label") and failed.get("line") else ""
    if failed.get("interrupted"):
        return clean(f"interrupted in {failed['stage']}{where}"), []
    meaning = [clean(failed["told"])] if failed.get("told") else []
    message = meaning + [clean(line) for line in failed["message"].split("\n")]
    return clean(f"{failed['stage']} failed{where}: {failed['type']}"), message


def became(made: Mapping[str, int]) -> str:
    """`3 eqns, 4 ops, 2 instructions`; empty when the line made nothing."""
    return ", ".join(plural(made[kind], named.operation) for kind, named in KINDS.items() if made.get(kind))
