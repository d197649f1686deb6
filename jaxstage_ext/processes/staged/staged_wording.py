"""Sentences about a call that several processes have staged."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.processes import ended_wording, preflight_report, preflight_wording
from jaxstage_ext.processes.disagreement import Disagreement, DisagreementCause, Group
from jaxstage_ext.processes.staged.process_staging import StagingError, StagingErrorKind
from jaxstage_ext.report.text.process_names import process_names

_NEXT = {
    DisagreementCause.ERROR: "Mend the error: when the program runs, the other processes would wait for ever.",
    DisagreementCause.UNKNOWN: "Compare shows the lines that differ.",
}
RUN = "--processes only stages the call in the processes; to run it there, use %%px"
VERSUS = "--vs compares with an Inspection of this kernel; leave out --processes, or use .difference(before)"
AWAITS = "a cell with --processes cannot await, and with %%px it would never end; write it without await"
INTERRUPTED = "the processes may go on with it; %processes where says where they are"
NO_SUCH_CALL = "the cell has fewer calls there"
NO_PROCESS = "no process of this job compiled it"
_WHY_EACH = {
    Sharing.COMPILED: "what decides the compile beside the program differs, such as the processors that they may use",
    Sharing.PERSISTENT: "JAX's persistent cache is on, which each process asks and process 0 alone writes",
    Sharing.OWN_DEVICES: "it runs on each one's own devices",
    Sharing.NO_FOLDER: "they do not all see the job's folder, as on several hosts",
    Sharing.PLATFORM: "executables are shared on CPUs alone, as elsewhere XLA's processes may tune a program together",
    Sharing.PYTHON: "it calls back into Python, which is each process's own",
    Sharing.CONSTANTS: "it holds large arrays, and to compare them takes as long as to compile it",
    Sharing.OPTIONS: "dumps, profiles or files are asked for, or the cache is off",
    Sharing.UNSHARED: "the compiler gave no executable that another process can read, or there was no room for it",
}
_WORDS = ("process", "different", "the ")
_MADE = {"trace": "jaxpr", "lower": "module", "compile": "module"}


def alike(group: Group, stage: str) -> str:
    """That all processes that were asked came to the same."""
    made = _MADE.get(stage, "program")
    if len(group) == 1:
        return f"{begun(process_names(group))} alone was asked."
    return f"{begun(process_names(group))}: the same {made}."


def read_from(process: int, readers: Group) -> str:
    """That one process compiled what others have read."""
    return f"Compiled by process {process}, read by {process_names(readers)}."


def each_compiled(group: Group, why: Sharing) -> str:
    """That processes that agree have each compiled, and why."""
    return f"{begun(process_names(group))} each compiled it: {_WHY_EACH[why]}."


def alike_error(group: Group) -> str:
    """That all processes that were asked have the same error."""
    return alike(group, "") if len(group) == 1 else f"{begun(process_names(group))}: the same error."


def own_program(group: Group) -> str:
    """That a program needs no other process."""
    return f"Each process runs it on its own devices alone, so that {process_names(group)} may differ without harm."


def not_compared(group: Group) -> str:
    """That nothing of a program can be compared."""
    return f"Whether {process_names(group)} agree is unknown: JAX did not lower the program there."


def shown(group: Group, all_processes: Group) -> str:
    """Whose program an entry of the panel shows, where they differ."""
    return f"This is the program of {process_names(group)}, of {len(all_processes)} that were asked."


def difference(found: Disagreement, is_shared: bool) -> list[str]:
    """Who differs, in what and why, in lines; of a program that several processes share also what to do about it."""
    head, *evidence = preflight_report.said(found)
    return [f"{begun(head)}.", *map(str.strip, evidence), *([next_step(found)] if is_shared else [])]


def next_step(found: Disagreement) -> str:
    """What to do about a difference."""
    return _NEXT.get(found.cause) or preflight_wording.next_step(found)


def failed(group: Group, error: StagingError) -> str:
    """Why processes have nothing to show, in one line."""
    if error.kind is StagingErrorKind.NAME:
        return missing(group, error.name, error.place)
    if error.kind is StagingErrorKind.REFUSED:
        return f"{process_names(group)}: {error.message}"
    at = f" at {error.place}" if error.place else ""
    if error.kind is StagingErrorKind.ENDED:
        return ended_wording.no_programs(group, error.message)
    if error.kind is StagingErrorKind.UNREACHED:
        return f"{process_names(group)} did not answer: {error.message or error.type}"
    said = ": ".join(part for part in (error.type, error.message) if part)
    return f"{process_names(group)} raised {said}{at}"


def missing(group: Group, name: str, place: str) -> str:
    """That a name is not defined where the cell runs."""
    at = f", at {place}," if place else ""
    return f"{name}{at} is not defined in {process_names(group)}; define it there with %%px"


def printed(group: Group, text: str, is_of_all: bool) -> str:
    """What the cell has printed, with the processes that did unless all printed the same."""
    return text if is_of_all else f"[{process_names(group)}] {text}"


def elsewhere(process: int) -> str:
    """Why the kernel cannot compute a table of a program."""
    return (
        f"process {process} staged it and holds its objects; the panel's tabs ask that process, and "
        "jaxstage_ext.inspect in a %%px cell gives the tables there"
    )


def gone(process: int) -> str:
    """That a process does not keep a call any more."""
    return f"process {process} keeps its last cells only; run the cell again"


def lost(process: int, why: str) -> str:
    """That a process cannot be asked any more."""
    return f"process {process}, which staged it, does not answer{f' ({why})' if why else ''}; run the cell again"


def busy(process: int) -> str:
    """That a process does something else just now."""
    return f"process {process}, which staged it, is busy; ask again when it is idle"


def unasked(asked: Sequence[int], size: int) -> str:
    """That a process that a line names does not exist."""
    many = f"are {process_names(range(size))}" if size > 1 else "is process 0 alone"
    return f"--processes {','.join(map(str, asked))}: there is no process {max(asked)}; there {many}"


def begun(text: str) -> str:
    """A sentence's beginning, which the name of a variable may be."""
    return text[:1].upper() + text[1:] if text.startswith(_WORDS) else text
