"""Links against what JAX and XLA say themselves, read by other means than ours."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from jax._src import core, source_info_util

from jaxstage_ext import inspect
from jaxstage_ext.report.document import OP
from tests.golden.record import load_programs

PROGRAMS = load_programs().PROGRAMS
every_program = pytest.mark.parametrize("name", PROGRAMS)


def table(text: str, name: str) -> dict[int, str]:
    """One of the tables that XLA prints above a module: number -> rest of the line."""
    block = text.split(f"\n{name}\n", 1)[1].split("\n\n", 1)[0]
    return {int(number): rest for number, rest in (line.split(" ", 1) for line in block.splitlines())}


def number(text: str, key: str) -> int:
    return int(re.search(rf"\b{key}=(\d+)", text)[1])


def xla_lines(text: str) -> dict[str, tuple[str, int]]:
    """Instruction -> (file, line) of its innermost frame, out of the text that XLA prints with metadata."""
    files, locations, frames = (table(text, name) for name in ("FileNames", "FileLocations", "StackFrames"))
    found = {}
    for name, frame in re.findall(r"^ +(?:ROOT )?%(\S+) = .*stack_frame_id=(\d+)", text, re.MULTILINE):
        place = locations[number(frames[int(frame)], "file_location_id")]
        found[name] = (files[number(place, "file_name_id")].strip('"'), number(place, "line"))
    return found


@every_program
def test_direct_links_of_hlo_are_xlas(name: str) -> None:
    function, arguments = PROGRAMS[name]
    inspection = inspect(function, *arguments)
    expected = xla_lines(inspection.compiled.as_text())
    document = inspection.documents["hlo"]
    checked = 0
    for line, text in enumerate(document.lines, 1):
        match = re.match(r" +(?:ROOT )?%(\S+) = ", text)
        span = document.source_of(line) if match else None
        if span is None or span.inferred:
            continue
        file, own_line = expected[match[1]]
        if file == "programs.py":
            assert (span.file, span.line) == (file, own_line), text
            checked += 1
    assert checked > 0


def equations(jaxpr, seen):
    if id(jaxpr) not in seen:
        seen.add(id(jaxpr))
        for eqn in jaxpr.eqns:
            yield eqn
            for inner in core.jaxprs_in_params(eqn.params):
                yield from equations(getattr(inner, "jaxpr", inner), seen)


@every_program
def test_direct_links_of_the_jaxpr_are_jaxs(name: str) -> None:
    function, arguments = PROGRAMS[name]
    inspection = inspect(function, *arguments, stage="trace")
    frames = (
        source_info_util.user_frame(eqn.source_info.traceback)
        for eqn in equations(inspection.traced.jaxpr.jaxpr, set())
    )
    expected = Counter(frame.start_line for frame in frames if frame and frame.file_name == "programs.py")
    document = inspection.documents["jaxpr"]
    spans = [document.source_of(row + 1) for row in range(len(document)) if document.flags[row] & OP]
    assert Counter(span.line for span in spans if span and not span.inferred) == expected


@every_program
def test_every_equation_and_operation_counts_once(name: str) -> None:
    function, arguments = PROGRAMS[name]
    inspection = inspect(function, *arguments)
    total = sum(1 for _ in equations(inspection.traced.jaxpr.jaxpr, set()))
    assert inspection.documents["jaxpr"].coverage.total == total
    instructions = [
        instruction.opcode
        for module in inspection.compiled.runtime_executable().hlo_modules()
        for computation in module.computations()
        for instruction in computation.instructions()
    ]
    bookkeeping = ("kParameter", "kConstant", "kTuple", "kGetTupleElement", "kBitcast")
    counted = [opcode for opcode in instructions if not str(opcode).endswith(bookkeeping)]
    assert inspection.documents["hlo"].coverage.total == len(counted)
