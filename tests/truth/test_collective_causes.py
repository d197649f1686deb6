"""The line of a collective is that of the operation whose partitioning forces it: one row a cause.

The truth is in `sharded_programs`: only the marked line mixes elements that are on different devices, while its
neighbours compute element by element.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.program.source import margin
from tests.truth import sharded_programs as programs
from tests.truth.expectation import Expectation, UserProgram, answer, holds, inspected, rows

TPU, GPU, CPU = "v5e:2x4", "h100:8", "cpu:8"
MARK = "  # cause"
PLAIN = "the neighbouring lines are elementwise, so only the marked one needs another device's data"


def programs_of(module: ModuleType) -> dict[str, Callable[[], UserProgram]]:
    """The programs of a module by name."""
    own = {name: value for name, value in vars(module).items() if hasattr(value, "__wrapped__")}
    return {name: value for name, value in own.items() if value.__module__ == module.__name__}


EVERY = programs_of(programs)
COMPILED_TOO = (
    "contracting", "reshape_flat", "merge_dims", "split_dims", "flip", "roll", "concatenate", "fft", "cumsum", "sort",
    "top_k", "dynamic_slice", "take", "pad", "softmax", "constraint", "triangular_solve", "broadcast_over_rows", "tile",
    "scan_body", "gathered_weight", "transpose", "scan_over_sharded", "gradients",
    "heat_equation", "fully_sharded_step",
)  # fmt: skip
"""Programs that are compiled for TPU and GPU too: those in which XLA moves operations, and a few of each kind."""


def marked(program: Callable[[], UserProgram]) -> list[str]:
    """The code of the lines that are marked."""
    lines = inspect.getsource(inspect.unwrap(program)).splitlines()
    return sorted(line.removesuffix(MARK).strip() for line in lines if line.endswith(MARK))


def code(label: str) -> str:
    """The code at `file:line`."""
    file, _, number = label.rpartition(":")
    return linecache.getline(file, int(number)).rstrip().removesuffix(MARK).strip()


def lines_named(inspection: Any) -> list[str]:
    """The code of all lines that collectives are said to be for."""
    found = inspection.collectives
    return sorted({code(line) for row in found.rows for line in found.lines(row)})


def row_of(program: Callable[[], UserProgram], target: str) -> Expectation:
    return Expectation(program, target, "lines of the collectives", lines_named, marked(program), PLAIN)


@rows(
    *(row_of(program, CPU) for program in EVERY.values()),
    *(row_of(EVERY[name], TPU) for name in COMPILED_TOO),
    *(row_of(EVERY[name], GPU) for name in COMPILED_TOO[::2]),
)
def test_the_line_of_a_collective_is_its_cause(expectation: Expectation) -> None:
    holds(expectation)


def lines_of_costliest(inspection: Any) -> list[str]:
    found = inspection.collectives
    return sorted(code(line) for line in found.lines(found.rows[0]))


@rows(
    Expectation(
        programs.fully_sharded_step,
        TPU,
        "lines of the costliest",
        lines_of_costliest,
        marked(programs.fully_sharded_step),
        "XLA sums the gradients of both weights in one all-reduce of 2 x 4.19 MB",
    ),
)
def test_a_combined_collective_keeps_all_its_lines(expectation: Expectation) -> None:
    holds(expectation)


def cause(inspection: Any) -> str:
    return str(inspection.collectives.table["cause"][0])


def text(program: Callable[[], UserProgram], target: str, asked: str, ask: Any, expected: str) -> Expectation:
    return Expectation(program, target, asked, ask, expected, PLAIN)


@rows(
    text(programs.reshape_flat, CPU, "cause", cause, "resharding of sin for reshape"),
    text(programs.reshape_flat, TPU, "cause", cause, "for reshape"),
    text(programs.split_dims, GPU, "cause", cause, "for reshape"),
    text(programs.flip, CPU, "cause", cause, "resharding of sin for rev"),
    text(programs.fft, CPU, "cause", cause, "resharding of mul for fft"),
    text(programs.constraint, CPU, "cause", cause, "resharding of x for sin, sharding_constraint"),
    text(programs.top_k, CPU, "cause", cause, "resharding of sin for top_k"),
    text(programs.contracting, TPU, "cause", cause, "partial sums of dot_general"),
    text(programs.scan_over_sharded, TPU, "cause", cause, "resharding of sin for dynamic_slice"),
    text(programs.broadcast_over_rows, TPU, "cause", cause, "resharding of cos for"),
    text(programs.gathered_result, CPU, "cause", cause, "resharding of cos for the result"),
)
def test_what_a_collective_is_for(expectation: Expectation) -> None:
    holds(expectation)


CONSISTENT = ("reshape_flat", "cumsum", "dynamic_slice", "gathered_weight", "constraint", "flip")


@pytest.mark.parametrize("name", CONSISTENT)
@pytest.mark.parametrize("target", [CPU, pytest.param(TPU, marks=pytest.mark.needs("tpu"))])
def test_answer_headline_table_and_warning_name_the_same_line(name: str, target: str) -> None:
    inspection = inspected(EVERY[name], target)
    found = inspection.collectives
    [line, *_] = found.lines(found.rows[0])
    assert [code(line)] == marked(EVERY[name])
    assert f" for {line} (" in found.headline
    assert answer("collective")(inspection) == found.headline
    assert inspection.answers["line"][3] == line
    assert inspection.answers["row"][3] == found.table["row"][0]
    assert found.table["line"][0] == line
    warned = margin.warnings(inspection.program).warnings
    assert [warning.line for warning in warned[:1]] == [line]
    assert f"caused by {line}." in warned[0].happened
    assert found.table["row"][0] in warned[0].rows


def lines_of_gspmd(name: str) -> list[str]:
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        function, arguments, options = EVERY[name]()
        inspection = jaxstage_ext.inspect(function, *arguments, target=CPU, **options)
        return lines_named(inspection)
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


@pytest.mark.parametrize("name", ["reshape_flat", "cumsum", "dynamic_slice", "top_k", "concatenate", "split_dims"])
def test_the_older_partitioner_has_the_same_lines(name: str) -> None:
    assert lines_of_gspmd(name) == marked(EVERY[name])


def joined() -> UserProgram:
    def program(x: Any, y: Any) -> Any:
        a = jnp.sin(x)
        z = jnp.concatenate([a, y], 0)  # the use that replicates both
        return jax.lax.with_sharding_constraint(jnp.tanh(z), P(("c", "a"), "b"))

    both = (jax.ShapeDtypeStruct((8, 8), jnp.float32),) * 2
    return UserProgram(program, both, {"mesh": {"a": 2, "b": 2, "c": 2}, "in_specs": (P("a", "b"), P("b", "a"))})


def lines_warned_of(inspection: Any) -> list[str]:
    return [code(warning.line) for warning in inspection.collectives.warnings]


USE = "z = jnp.concatenate([a, y], 0)  # the use that replicates both"


@rows(
    Expectation(joined, CPU, "rematerialisation", lines_warned_of, [USE, USE], "both go in, and only there"),
    Expectation(joined, TPU, "rematerialisation", lines_warned_of, [USE, USE], "both go in, and only there"),
)
def test_full_rematerialisation_is_warned_of_where_the_value_is_used(expectation: Expectation) -> None:
    holds(expectation)
