"""The passes of real compiles: complete, exact, small, and followed through."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator

import compiled_once
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from counted_calls import calls_of

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.passes import diff, hlo_graph, hlo_line, pass_table
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.program.head.extra_documents import extra_document
from jaxstage_ext.program.questions.passes import module_after
from jaxstage_ext.program.questions.passes import passes as passes_of
from jaxstage_ext.report.document import Document
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool, process
from tests.benchmarks.model import step
from tests.golden.record import load_programs

TARGETS = ("local", "v5e:2x2", "h100")


pytestmark = pytest.mark.usefixtures("no_workers_left")


@functools.cache
def looked_at(target: str) -> Inspection:
    needs(target)
    function, arguments = load_programs().PROGRAMS["transformer_gradient"]
    with compiled_once.kept():
        inspection = inspect(function, *arguments, target=target)
        assert inspection.passes
    return inspection


every_target = pytest.mark.parametrize("target", TARGETS)


def instructions(text: str) -> list[hlo_graph.Shape]:
    """The lines of a module but its head and the tables of files below that; options in one order."""
    shapes = map(hlo_graph.shape_of, text.split("\n"))
    return [shape for shape in shapes if shape.kind != hlo_line.OTHER]


def alike(target: str) -> bool:
    """Whether two compiles of one program come out alike: XLA for GPUs numbers and orders fusions as threads end."""
    return target != "h100"


@every_target
def test_the_passes_end_in_the_module_that_is_shown(target: str) -> None:
    inspection = looked_at(target)
    last, shown = inspection.passes[-1].text, inspection.documents["hlo"].text
    if target == "v5e:2x2":  # libtpu dumps %tuple#0 for a get-tuple-element
        _assert_alike_but_for_elements(last, shown)
        return
    if alike(target):
        assert instructions(last) == instructions(shown)
    assert Counter(s.opcode for s in instructions(last)) == Counter(s.opcode for s in instructions(shown))


def _assert_alike_but_for_elements(last: str, shown: str) -> None:
    kept = [(s.name, s.opcode) for s in instructions(shown) if s.opcode != "get-tuple-element"]
    assert [(s.name, s.opcode) for s in instructions(last) if s.opcode != "get-tuple-element"] == kept


@every_target
def test_sizes_agree_with_the_proto(target: str) -> None:
    inspection = looked_at(target)
    module = inspection.program.module
    last = inspection.passes[-1]
    elements = 0 if " get-tuple-element(" in last.text else int((module.opcode == b"get-tuple-element").sum())
    assert (last.after.instructions + elements, last.after.fusions) == (len(module.names), module.fusions)


@every_target
def test_passes_that_changed_nothing_and_times_are_known(target: str) -> None:
    passes = looked_at(target).passes
    assert passes.complete
    assert len(passes.changed) < len(passes) / 2
    names = {this.name for this in passes}
    assert {"dce", "cse", "algsimp", "layout-assignment"} <= names
    timed = [this for this in passes if this.seconds is not None]
    assert len(timed) >= len(passes) - 6
    assert all(this.pipeline for this in timed)


@every_target
def test_each_pass_starts_where_the_one_before_it_ended(target: str) -> None:
    passes = looked_at(target).passes
    assert len(passes.changed) > 1
    for number, (this, following) in enumerate(itertools.pairwise(passes)):
        assert this.index == number
        assert this.after == following.before
        assert this.changed or this.before == this.after
    for this, following in itertools.pairwise(passes.changed):
        assert this.text == following.text_before
        assert passes.versions.with_metadata(this.version) != passes.versions.with_metadata(this.version - 1)


@every_target
def test_matches_point_both_ways(target: str) -> None:
    passes = looked_at(target).passes
    assert passes.changed
    for this in passes.changed:
        found = passes.diff(this.index)
        kept = np.flatnonzero((found.match_before >= 0) & (found.state_before != diff.GONE))
        assert (found.match_after[found.match_before[kept]] == kept).all()


def test_dead_code_elimination_only_removes() -> None:
    passes = looked_at("local").passes
    removing = [this for this in passes.changed if this.name == "dce"]
    assert removing
    for this in removing:
        assert {name for name, count in passes.diff(this.index).counts.items() if count} == {"removed"}


@every_target
def test_documents_link_to_source_as_the_optimised_module_does(target: str) -> None:
    inspection = looked_at(target)
    last = module_after(inspection.program, f"pass:{len(inspection.passes.versions) - 1}")
    assert last is not None
    hlo_document = inspection.documents["hlo"]
    ours, theirs = last.coverage, hlo_document.coverage
    assert ours.total == theirs.total
    assert abs(ours.direct - theirs.direct) <= (0 if alike(target) else 0.05 * theirs.total)
    if alike(target):
        assert dict(direct_sources(last)) == dict(direct_sources(hlo_document))
    assert (
        Counter(source for _, source in direct_sources(last)).keys()
        == Counter(source for _, source in direct_sources(hlo_document)).keys()
    )


def direct_sources(document: Document) -> Iterator[tuple[str, str]]:
    """(instruction, source) of each line that the compiler itself links."""
    for number, line in enumerate(document.lines, 1):
        span = document.source_of(number)
        if span is not None and not span.inferred and " get-tuple-element(" not in line:
            yield hlo_line.read(line).name, str(span)


def test_the_first_document_links_too() -> None:
    inspection = looked_at("local")
    assert inspection.passes
    first = extra_document(inspection.program, "pass:0")
    assert first is not None
    assert first.coverage.direct > 0.5 * first.coverage.total
    assert first.fold_end.max() > 0


@pytest.mark.parametrize("kind", ["pass:", "pass:x", "pass:99999", "pass:-1", "pass:²", "hlo", ""])
def test_there_is_no_other_document(kind: str) -> None:
    inspection = looked_at("local")
    assert inspection.passes and module_after(inspection.program, kind) is None


@every_target
def test_an_instruction_is_followed_from_the_first_module_to_the_last(target: str) -> None:
    inspection = looked_at(target)
    passes = inspection.passes
    entry = [line for line in passes[-1].text.split("\n") if re.search(r" (tanh|exponential)\(", line)]
    assert entry
    name = hlo_line.read(entry[0]).name
    history = passes.follow(f"%{name}")
    assert history.line == entry[0]
    indices = [step.index for step in history.steps]
    assert indices == sorted(indices)
    assert all(passes[index].changed for index in indices)
    assert history.first >= 0 or history.steps[0].what in ("appeared", "copied")
    assert name in repr(history)


def test_a_fusion_appears_in_a_pass_that_fuses() -> None:
    passes = looked_at("local").passes
    fusions = [hlo_line.read(line) for line in passes[-1].text.split("\n") if " fusion(" in line]
    assert fusions
    for line in fusions[:5]:
        steps = passes.follow(line.name).steps
        [born] = [passes[step.index] for step in steps if step.what == "appeared"]
        assert born.after.fusions > born.before.fusions


def test_a_name_that_is_nowhere() -> None:
    with pytest.raises(KeyError, match="nothing_like_it"):
        looked_at("local").passes.follow("nothing_like_it")


def test_the_table_as_text() -> None:
    passes = looked_at("local").passes
    lines = repr(passes).split("\n")
    assert lines[0] == f"{len(passes)} passes, {len(passes.changed)} of them changed the module"
    [fusion] = [this for this in passes.changed if this.name == "fusion"]
    [row] = [line for line in lines if line.split()[:2] == [str(fusion.index), "fusion"]]
    assert f"+{fusion.after.fusions - fusion.before.fusions}" in row.split()
    assert "unknown" not in row
    assert max(map(len, lines)) < 120


def test_records() -> None:
    passes = looked_at("local").passes
    total = sum(record["added instructions"] for record in passes.table.rows())
    assert total == passes[-1].after.instructions - passes[0].before.instructions


def test_signed_and_durations() -> None:
    assert [pass_table.change(n) for n in (0, 1200, -3)] == [".", "+1,200", "−3"]
    assert [pass_table.change(n, "B") for n in (0, 12, -34_300, 1_000_000)] == [".", "+12 B", "−34.3 kB", "+1 MB"]
    assert [pass_table.time(s) for s in (None, 12e-6, 3.4e-3, 1.25)] == ["unknown", "12 µs", "3.4 ms", "1.25 s"]


def test_a_second_inspection_of_the_same_program_asks_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        return jnp.sin(x) + 1

    cache.clear()
    looks = []
    for _ in range(2):  # from one line, which is a part of the program
        asked = calls_of(monkeypatch, pool, "ask")
        looks.append(inspect(f, jnp.ones(4)).passes)
    first, second = looks
    assert asked == []
    assert second.passes == first.passes
    assert second[-1].text == first[-1].text


def test_a_look_that_is_stopped_leaves_the_next_one_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_REPORT", 0.0)

    class Stop(Exception):
        pass

    def stop(seconds: float, reached: str | None) -> None:
        raise Stop

    def f(x):
        for _ in range(60):
            x = jnp.tanh(x @ x) + jnp.sort(x, axis=0)
        return x

    inspection = inspect(f, jnp.ones((8, 8)))
    with pytest.raises(Stop):
        passes_of(inspection.program, stop)
    assert len(inspection.passes.changed) > 3


def test_nothing_stays_in_the_workers_folder() -> None:
    looked_at("local")
    place = pool._slots["cpu/recompile"].worker
    assert place is not None
    assert [path.name for path in place.folder.iterdir() if path.is_dir()] == []
    assert "hlo_pass_pipeline" not in (place.folder / "log").read_text()


def test_texts_take_a_tenth_at_most_of_what_xla_dumped() -> None:
    function, arguments = step(2)
    passes: Pipeline = inspect(function, *arguments).passes
    assert passes.text_bytes > 5_000_000
    assert passes.versions.nbytes < 0.03 * passes.text_bytes


def test_the_proto_is_what_the_sizes_are_held_against() -> None:
    """That the oracle of `test_sizes_agree_with_the_proto` counts what the text has."""
    inspection = looked_at("local")
    text = inspection.documents["hlo"].text
    assert len(hlo.parse(inspection.program.proto()).names) == len(
        re.findall(r"^  (?:ROOT )?%\S+ = ", text, re.MULTILINE)
    )
