"""What the tools for language models say."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.shortened import shortened, some

NO_INSPECTION = (
    "This kernel has no inspection: run in a cell: import jaxstage_ext; ins = jaxstage_ext.inspect(step, params)"
)
NO_KERNEL = "No kernel runs: open a notebook, or start one"
NO_SERVER = "These tools run in a Jupyter server: pip install 'jaxstage-ext[agents]', then jupyter lab"
CUT = "… cut: ask with a smaller limit"


def no_inspection(name: object, names: Sequence[str]) -> str:
    """That a name is not that of an inspection, and which are."""
    there = some(list(names), 20) or "none"
    return f"{shortened(repr(name), 80)} is not an inspection of this kernel; there are {there}"


def no_tool(name: object, names: Sequence[str]) -> str:
    """That there is no such tool."""
    return f"no tool {shortened(repr(name), 80)}; there are {', '.join(names)}"


def no_argument(tool: str, name: str, names: Sequence[str]) -> str:
    """That a tool does not take an argument."""
    return f"{tool} takes no {shortened(repr(name), 80)}; it takes {', '.join(names) or 'nothing'}"


def missing_argument(tool: str, name: str) -> str:
    """That a tool needs an argument."""
    return f"{tool} needs {name!r}"


_KINDS = {"str": "a text", "int": "a whole number", "bool": "true or false"}


def bad_argument(name: str, kind: str, value: object) -> str:
    """That an argument is of another type."""
    return f"{name!r} must be {_KINDS[kind]}, not {shortened(repr(value), 80)}"


def no_table(name: object, names: Sequence[str]) -> str:
    """That there is no such table."""
    return f"no table {shortened(repr(name), 80)}; there are {', '.join(names)}"


def no_such_finding(index: object, count: int) -> str:
    """That there is no finding of that number."""
    return f"there is no finding {shortened(repr(index), 40)}; there are {count:,}, numbered from 0"


def failed(error: BaseException) -> str:
    """Why a tool has no answer, in one line."""
    first = " ".join(str(error).split())
    return shortened(first or type(error).__name__, 600)


def which_kernel(kernels: Sequence[str]) -> str:
    """That several kernels run, so that one must be named."""
    return f"several kernels run, name one as kernel: {some(list(kernels), 10)}"


def no_such_kernel(name: str, kernels: Sequence[str]) -> str:
    """That no kernel has that id."""
    return f"no kernel {shortened(repr(name), 80)}; there are {some(list(kernels), 10) or 'none'}"


def busy(seconds: float) -> str:
    """That a kernel did not answer."""
    return f"the kernel did not answer within {seconds:,.0f} s: a cell runs; ask again when it has ended"
