"""What the command line says."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.shortened import shortened, some
from jaxstage_ext.report.text.units import plural

PROGRAM = "python -m jaxstage_ext"
ABOUT = "What JAX and XLA make of a call, without a notebook. Functions are traced and compiled, not run."
FINDINGS = "what to change in the program of a call, the most to gain first"
FINDINGS_MORE = (
    "Of your file it runs the import, as a module and not as __main__, and the arguments of the call; the function "
    "itself is traced and compiled, and not run. The exit status is 0; 1 where a finding reaches --fail-on; and 2 "
    "where there is nothing to look at. Options of your file go behind --."
)
OPEN = "a saved inspection, module or profile in short; or as an offline page"
COMPARE = "two saved inspections or profiles, the first as before"
FILE = "your Python file"
CALL = 'a call of a function of it: "step(params, batch)"'
TARGET = "what to compile for, such as v5e:2x4 or h100:8; the devices here without it"
MESH = "the mesh of the target's devices, such as data=4,model=2"
SPECS = "PartitionSpecs of the arguments on --mesh, in order or by name: \"P(), batch=P('data')\""
JSON = "print JSON"
EVERYTHING = "look for the kinds too that take a compile of their own"
FAIL_ON = (
    "when the exit status is 1: a share such as 5%% that a finding could save, 'any', or a kind such as 'promotion'; "
    "a result that may be wrong counts always. It is never 1 without this option"
)
SAVED = "a file that JAXStage, JAX or XLA wrote"
HTML = "write one offline page there"
ASKED_FOR_INPUT = "it asks for input, and there is none: pass what it needs behind --"


def runs(file: str, call: str) -> str:
    """What is run of the user's file."""
    return f"runs the import of {file} and the arguments of {shortened(call, 200)}; the function is compiled, not run"


def no_file(path: str) -> str:
    """That there is no such file."""
    return f"there is no file {shortened(path, 200)!r}"


def not_python(path: str) -> str:
    """That a file is no Python source."""
    return (
        f"{shortened(path, 200)!r} is not a Python file: findings takes FILE.py and a call; open takes what was saved"
    )


def import_failed(file: str, why: str) -> str:
    """That a file cannot be imported, and why."""
    return f"{file} fails while it is imported: {shortened(why, 500)}"


def ended_itself(file: str, status: object) -> str:
    """That a file ends the process when it is imported."""
    return f"{file} ends itself with status {status!r} while it is imported: pass the options that it needs behind --"


def not_a_call(text: str) -> str:
    """That an expression is no call."""
    return f"{shortened(text, 200)!r} is not a call: write one, such as 'step(params, batch)'"


def no_name(name: str, file: str, names: Sequence[str]) -> str:
    """That a file does not define a name, and which it defines."""
    return f"{file} does not define {shortened(repr(name), 80)}; it has {some(names, 20) or 'no names'}"


def arguments_failed(call: str, why: str) -> str:
    """That the arguments of a call cannot be made."""
    return f"the arguments of {shortened(call, 200)} fail: {shortened(why, 500)}"


def not_staged(call: str, why: str) -> str:
    """That a call does not compile."""
    return f"{shortened(call, 200)}: {shortened(why, 1000)}"


def bad_threshold(text: str, kinds: Sequence[str]) -> str:
    """What --fail-on takes."""
    return (
        f"--fail-on takes a share such as 5%, 'any', or a kind, not {shortened(text, 80)!r}; kinds: {', '.join(kinds)}"
    )


def failed(count: int, threshold: str) -> str:
    """How many findings reach the threshold."""
    return f"{plural(count, 'finding')} for --fail-on {threshold!r}"


def not_judged(count: int) -> str:
    """How many findings have no share that is known."""
    return f"{plural(count, 'finding')} with an unknown share: not judged by a share, 'any' counts them"


def not_alike(first: str, second: str) -> str:
    """That two files cannot be compared."""
    return f"a {first} and a {second} cannot be compared: give two inspections, or two timelines"


def no_page(kind: str) -> str:
    """That something has no offline page."""
    return f"a {kind} has no offline page: leave out --html"


def threads_left(names: Sequence[str]) -> str:
    """Which threads of the user's file are ended."""
    return f"ended with threads of your file still running: {some(list(names), 5)}"


INTERRUPTED = "interrupted"
