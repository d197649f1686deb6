"""What is said about jobs of engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxstage_ext.processes.ended_wording import have_ended, no_programs
from jaxstage_ext.processes.engines.engine_answer import EngineFailure, FailureKind
from jaxstage_ext.processes.engines.whereabouts_wording import COORDINATOR
from jaxstage_ext.report.text.units import duration, plural

NO_JOB = "no processes; %processes start 2 starts two"
NO_LIBRARY = "%processes needs ipyparallel: pip install 'jaxstage-ext[processes]'"
CONTROLLER = "the controller"
JOINING = "jax.distributed"
CLIENT_CLOSED = "the client of the processes is closed: %processes stop, then start or use others"
CANCELLED = "no process was started"
NOT_OURS = "the engines were not started here: restart them yourself, then %processes use"
NO_ENGINES = "the client has no engines"
SEVERAL_JOBS = "the engines are of several jobs; give a client of one"
_FIELDS = {"jax": "JAX", "jaxlib": "jaxlib", "xla_flags": "XLA_FLAGS", "platform": "the platform"}


def process(index: int) -> str:
    """A process by its index."""
    return f"process {index}"


def exit_status(code: int) -> str:
    """How a process ended by itself."""
    return f"exit status {code}"


def killed(by: str) -> str:
    """How a process ended by a signal."""
    return f"killed by {by}"


def has_ended(who: str, pid: int, how: str, last_line: str) -> str:
    """A process that has ended."""
    return f"{who} (pid {pid}) has ended: {how}" + (f"; its last line: {last_line}" if last_line else "")


def not_started(why: str) -> str:
    """Why a job could not be started."""
    return f"the processes could not be started: {why}"


def failed(index: int, failure: EngineFailure) -> str:
    """Why a process gave no value, in one line."""
    first = failure.message.strip().partition("\n")[0][:300]
    said = ": ".join(filter(None, (failure.error, first)))
    if failure.kind is FailureKind.NOT_INSTALLED:
        return f"process {index} has no jaxstage_ext ({said}): install it there"
    return have_ended((index,), said) if failure.kind is FailureKind.DIED else f"process {index} raised {said}"


def unanswered(index: int, failure: EngineFailure) -> str:
    """The same of a process of a job that runs."""
    is_over = failure.kind is FailureKind.DIED
    return no_programs((index,), failure.message) if is_over else failed(index, failure)


def took_too_long(seconds: float, what: str) -> str:
    """The time for a start is over."""
    return f"the processes were not ready within {duration(seconds)} (waited for {what}); --timeout gives them longer"


def engines_to_come(there: int, count: int) -> str:
    """What a start waits for."""
    return f"engines, {there} of {count} there"


def ports_taken(attempts: int) -> str:
    """No port stayed free."""
    return f"the processes could not be started: {plural(attempts, 'port')} taken by other processes; try again"


def deadlock(version: str) -> str:
    """Why several devices a process are refused."""
    return (
        f"JAX {version} deadlocks on CPUs with two or more devices in each of several processes; "
        "use --devices 1, or JAX 0.12 or newer"
    )


def differs(field: str, values: Mapping[int, str]) -> str:
    """A field that is not the same in all processes."""
    each = "; ".join(f"process {index} has {value or 'none'}" for index, value in sorted(values.items()))
    return f"{_FIELDS[field]} differs: {each}"


def other_processes(engines: int, processes: int) -> str:
    """The client reaches some of the job only."""
    return f"the job has {plural(processes, 'process', 'processes')}, and the client reaches {engines} of them"


def some_joined(engines: Sequence[int]) -> str:
    """Only some engines are in a job."""
    return f"{_engines(engines)} called jax.distributed.initialize and the others did not: restart the engines"


def ran_jax(engines: Sequence[int]) -> str:
    """JAX cannot join what has used its devices."""
    return (
        f"{_engines(engines)} used JAX's devices before jax.distributed.initialize: "
        "restart the engines, then %processes use before anything else"
    )


def _engines(numbers: Sequence[int]) -> str:
    return f"{'engine' if len(numbers) == 1 else 'engines'} {', '.join(map(str, numbers))}"


def started(devices: Sequence[int], seconds: float) -> str:
    """A job is there, each of whose processes has so many devices."""
    least, most = min(devices), max(devices)
    each = plural(least, "device") if least == most else f"{least} to {most} devices"
    return f"{_size(len(devices))} with {each} each, ready in {duration(seconds)}; %%px runs a cell in each"


def stopped(count: int, is_ours: bool) -> str:
    """A job is there no more."""
    return f"{_size(count)} ended" if is_ours else f"{_size(count)} left; the engines stay"


def runs_already(count: int, is_ours: bool) -> str:
    """There is a job already."""
    return f"{_size(count)} {'run' if is_ours else 'are used'} already; %processes stop ends that"


def starting(seconds: int, what: str) -> str:
    """How far a start is."""
    return f"starting processes, {seconds} s: waiting for {what}"


def was_ended(index: int) -> str:
    """A process was killed because the user said so."""
    if index == 0:
        return f"process 0 ended; {COORDINATOR}; %processes restart starts all again"
    return f"process {index} ended; programs of several processes fail until %processes restart"


NO_ANSWER = "not all processes have answered; %processes where says where they are, %processes end 1 ends one"


def guard(is_on: bool) -> str:
    """The guard was turned on or off."""
    if not is_on:
        return "programs of several processes are not compared any more"
    return (
        "each program of several processes is compared with the other processes before its first run from now on; "
        "JAX compiles anew what it had compiled; values of arguments are not compared"
    )


def not_a_client(is_defined: bool) -> str:
    """The name is not that of a client."""
    return "it is not an ipyparallel.Client" if is_defined else "no variable has that name"


def _size(count: int) -> str:
    return plural(count, "process", "processes")
