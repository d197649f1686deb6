"""Sentences of the pre-flight: which processes disagree, in what, and why."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.processes.arrival import Arrival, ComparedPart, EndKind, ProcessEnd
from jaxstage_ext.processes.disagreement import Disagreement, DisagreementCause, Group
from jaxstage_ext.processes.flow.value_origin import ValueOrigin
from jaxstage_ext.report.text.process_names import process_names
from jaxstage_ext.report.text.units import duration, plural

PARTS = {
    ComparedPart.ENVIRONMENT: "versions and flags",
    ComparedPart.ORDER: "the order of programs",
    ComparedPart.DEVICES: "devices",
    ComparedPart.JAXPR: "jaxpr",
    ComparedPart.STABLEHLO: "StableHLO",
    ComparedPart.OPTIONS: "compile options",
}
_HEADLINE_PARTS = {ComparedPart.JAXPR: "programs", ComparedPart.STABLEHLO: "programs"}
CAUSES = {
    DisagreementCause.ERROR: "{absent} raised an error, so it does not reach this program",
    DisagreementCause.LEFT: "{absent} ended, so it does not reach this program",
    DisagreementCause.ABSENT: "{absent} did not reach this program within {seconds}",
    DisagreementCause.VERSIONS: "the processes run different versions",
    DisagreementCause.FLAGS: "the processes have different XLA flags",
    DisagreementCause.PROCESS_BRANCH: "the program depends on the index of the process",
    DisagreementCause.CLOCK: "the program depends on the clock",
    DisagreementCause.RANDOM: "the program depends on a random value without a fixed seed",
    DisagreementCause.SET_ORDER: "the program depends on an order that differs by process, such as that of a set",
    DisagreementCause.HOST: "the program depends on the host or its environment",
    DisagreementCause.LOCAL_DATA: "the program depends on what this process alone holds",
    DisagreementCause.LOCAL_SHAPE: "the arguments have different types or shapes",
    DisagreementCause.OPERATION_ORDER: "the programs have the same operations in another order",
    DisagreementCause.PROGRAM_ORDER: "the programs come in another order, or one process runs a program more",
    DisagreementCause.DEVICE_ORDER: "the programs run on different devices, or on the same in another order",
    DisagreementCause.MESH: "the meshes have different axes",
    DisagreementCause.DONATION: "different arguments are donated",
    DisagreementCause.COLLECTIVE_MORE: "the programs have different numbers of collectives",
    DisagreementCause.CAPTURED_VALUE: "a constant in the program has different values, such as a captured variable",
    DisagreementCause.OPTIONS: "the compile options differ",
    DisagreementCause.CONFIG: "jax.config has different values",
    DisagreementCause.UNKNOWN: "no cause is known",
}
_OF_ALL, _BROADCAST = "jax.make_array_from_process_local_data", "multihost_utils.broadcast_one_to_all(value)"
NEXT_STEPS = {
    DisagreementCause.ERROR: "Mend the error; the other processes are stopped so that they do not wait for ever.",
    DisagreementCause.LEFT: "Run the same programs in all processes, inside or outside the block.",
    DisagreementCause.ABSENT: (
        "See what that process does: %processes where in a notebook, py-spy elsewhere; preflight(timeout=...) waits "
        "longer."
    ),
    DisagreementCause.VERSIONS: "Install the same versions everywhere.",
    DisagreementCause.FLAGS: "Give all processes the same XLA_FLAGS and LIBTPU_INIT_ARGS.",
    DisagreementCause.PROCESS_BRANCH: (
        "Run the same code in all processes. What must differ goes into an array that is sharded over them: "
        f"{_OF_ALL}. A plain argument may differ unnoticed, for values are not compared."
    ),
    DisagreementCause.CLOCK: f"Take the value in process 0 and send it: {_BROADCAST}.",
    DisagreementCause.RANDOM: "Give all processes the same seed, or broadcast the value from process 0.",
    DisagreementCause.SET_ORDER: "Sort it: sorted(names). PYTHONHASHSEED=0 hides this on one machine only.",
    DisagreementCause.HOST: "Give all processes the same value, or broadcast it from process 0.",
    DisagreementCause.LOCAL_DATA: (
        f"Make one array of what all processes hold, with {_OF_ALL}, and give that as an argument; reduce it in the "
        "program where one value is wanted."
    ),
    DisagreementCause.LOCAL_SHAPE: "Give every process a batch of the same shape; drop or pad the last one.",
    DisagreementCause.OPERATION_ORDER: "Go through what decides the order, such as a list, alike in all processes.",
    DisagreementCause.PROGRAM_ORDER: "Call the same programs in the same order in all processes.",
    DisagreementCause.DEVICE_ORDER: "Make the mesh from jax.devices() in all processes, in the same order.",
    DisagreementCause.MESH: "Make the mesh with the same names and sizes of axes in all processes.",
    DisagreementCause.DONATION: "Give donate_argnums the same value everywhere.",
    DisagreementCause.COLLECTIVE_MORE: "Call the collective in all processes or in none.",
    DisagreementCause.CAPTURED_VALUE: (
        f"Take the value in process 0 and send it: {_BROADCAST}. As an argument it would differ unnoticed, for values "
        "are not compared."
    ),
    DisagreementCause.OPTIONS: "Give compiler_options and jax.config the same values everywhere.",
    DisagreementCause.CONFIG: "Give jax.config the same values in all processes.",
    DisagreementCause.UNKNOWN: "Read the lines that differ, in the report.",
}
ORIGINS = {
    ValueOrigin.PROCESS: "the index of the process",
    ValueOrigin.CLOCK: "the clock",
    ValueOrigin.RANDOM: "a random value",
    ValueOrigin.SET_ORDER: "an order that differs by process",
    ValueOrigin.HOST: "the host or its environment",
    ValueOrigin.LOCAL_DATA: "what this process alone holds",
}
ELSEWHERE = "comparing has failed in another process"
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def headline(found: Disagreement) -> str:
    """What happened, in one line."""
    return f"{_who(found)}: {cause(found)}{_where(found)}"


def cause(found: Disagreement) -> str:
    """Why, in half a sentence."""
    absent = process_names(tuple(found.ends) or found.absent) if found.absent else ""
    return CAUSES[found.cause].format(absent=absent, seconds=duration(found.seconds))


def next_step(found: Disagreement) -> str:
    """What to do about it. Whatever decides which program comes next, all must run the same."""
    is_order = found.differing is ComparedPart.ORDER and not found.absent
    return NEXT_STEPS[DisagreementCause.PROGRAM_ORDER if is_order else found.cause]


def _who(found: Disagreement) -> str:
    arrived = next(iter(found.arrivals.values()), None)
    numbered = f" ({ordinal(found.number)} program of several processes)" if found.number else ""
    program = f"{arrived.program}{numbered}" if arrived else "a program"
    if found.absent:
        return f"{process_names(tuple(found.arrivals))} cannot run {program}"
    differing = found.differing or ComparedPart.STABLEHLO
    groups = found.groups.get(differing, ())
    if differing is ComparedPart.ORDER:
        names = [f"{process_names(group)} {_runs(group)} {found.arrivals[group[0]].program}" for group in groups]
        come = (
            f"different programs come {ordinal(found.number)}" if found.number else "the call runs different programs"
        )
        return f"{come}: {', '.join(names)}"
    every = tuple(sorted(process for group in groups for process in group))
    who = process_names(every) if len(every) == len(groups) else " and ".join(map(process_names, groups))
    return f"{who} have different {_HEADLINE_PARTS.get(differing, PARTS[differing])} for {program}"


def _runs(group: Group) -> str:
    return "run" if len(group) > 1 else "runs"


def _where(found: Disagreement) -> str:
    if found.ends:
        end = next(iter(found.ends.values()))
        error = f": {end.error}" if end.error else ""
        return f"{error}{f' at {end.place}' if end.place else ''}"
    return f", at {found.place}" if found.place is not None else ""


def suspect_line(found: Disagreement) -> str:
    """Where the value that differs is made; "" where that is unknown or the same line."""
    suspect, place = found.suspect, found.place
    if suspect is None or place is None or (not suspect.cell and suspect.line == place.line):
        return ""
    return f"{ORIGINS[suspect.origin]} comes from {suspect.cell or place.label}:{suspect.line}: {suspect.code}"


def call_line(found: Disagreement) -> str:
    """What the call takes that can differ, where nothing nearer explains the difference; "" where that is nothing."""
    if found.call is None:
        return ""
    suspect = found.call.suspects[0]
    origin = f"{suspect.cell or found.call.label}:{suspect.line}: {suspect.code}"
    return f"the call at {found.call} takes {ORIGINS[suspect.origin]}, from {origin}"


def ended(end: ProcessEnd) -> str:
    """What became of a process that does not arrive."""
    how = f"raised {end.error}" if end.kind is EndKind.ERROR else "ended"
    where = f" at {end.place}" if end.place else ""
    after = f" after {end.last}, its {ordinal(end.programs)} program" if end.programs else " before its first program"
    return f"process {end.process} {how}{where}{after}"


def not_arrived(process: int, programs: Sequence[str]) -> str:
    """What is known of a process that neither arrives nor has ended."""
    if not programs:
        return f"process {process} has not run a program of several processes yet"
    count = plural(len(programs), "program")
    return f"process {process} last agreed on {programs[-1]} ({count} so far), and is busy elsewhere, stuck or gone"


def waiting(seconds: float, absent: Group, arrival: Arrival) -> str:
    """A note while a process waits."""
    return (
        f"jaxstage preflight: process {arrival.process} has waited {seconds:.0f} s for {process_names(absent)} "
        f"before {arrival.program}{f' at {arrival.place}' if arrival.place else ''}"
    )


def store_lost(reason: str) -> str:
    """A note where the pre-flight ends because the job's store does not answer."""
    return f"jaxstage preflight: not compared from here on, the job's key-value store does not answer: {reason}"


def ahead_of_time(count: int) -> str:
    """A note at the end where programs were not compared."""
    were = "was" if count == 1 else "were"
    return f"jaxstage preflight: not compared: {plural(count, 'program')} that {were} compiled ahead of time"


def failed(reason: str) -> str:
    """A note where comparing ends by a fault in this package."""
    return f"jaxstage preflight: not compared from here on, which is a fault of jaxstage_ext: {reason}"


def collectives(found: Disagreement) -> str:
    """How many collectives each process's program has; "" where they have as many."""
    counts = [f"process {process} has {count}" for process, count in found.collectives.items()]
    return f"collectives written in the program: {', '.join(counts)}" if counts else ""


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{_ENDINGS.get(number % 10, 'th')}"
