"""The readers on text that nobody wrote, and the rules that hold for any document."""

from __future__ import annotations

import linecache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jaxstage_ext.ir import folds, python, stablehlo
from jaxstage_ext.ir.hlo import hlo_document, module
from jaxstage_ext.ir.sources import links
from jaxstage_ext.ir.sources.links import LinkGraph
from jaxstage_ext.ir.sources.mlir_location import Locations
from jaxstage_ext.ir.sources.source import FrameTable, Location, is_outside, is_user
from jaxstage_ext.report.document import INFERRED, LEFT_OUT, OP, Document
from jaxstage_ext.report.saved import saved_form, saved_reading

GOLDEN = Path(__file__).parents[1] / "golden" / "jax-0.12.0.1"
MODULE = module.parse((GOLDEN / "scan" / "hlo.pb").read_bytes())
PIECES = st.sampled_from(
    [
        "module @m {", "func.func public @f(%arg0: tensor<2xf32>) {", "  %0 = stablehlo.add %arg0, %arg0 : t",
        "  %1:2 = call @f(%0) : () -> ()", "}", "  }) : () -> () loc(#loc3)", "cond {", "#loc1 = loc(\"f\":1:2)", "",
        "  ROOT %dot = f32[1]{0} dot(%a)", "%c (x: f32[]) -> f32[] {", "  %", " ", "R", "ENTRY %main {", "\"", "🦊",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=40), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_stablehlo_of_any_text_is_a_document(text: str, debug: str) -> None:
    for debug_text in (text, debug):
        document = stablehlo.read(text, debug_text, FrameTable())
        assert document.lines == text.split("\n")
        assert len(document) == len(document.lines)


@given(TEXTS)
@example("}{")
def test_hlo_of_any_text_is_a_document(text: str) -> None:
    document = hlo_document.read(text, MODULE, FrameTable())
    assert document.text == text
    assert len(document) == text.count("\n") + 1
    assert ((document.fold_end == -1) | (document.fold_end > np.arange(len(document)))).all()


@given(st.lists(st.text("{}[]()\"ab \\", max_size=12), max_size=20))  # fmt: skip
def test_folds_nest(lines: list[str]) -> None:
    end = folds.by_brackets(lines)
    blocks = [(start, int(stop)) for start, stop in enumerate(end) if stop >= 0]
    for start, stop in blocks:
        assert start < stop < len(lines)


def test_folds_of_a_jaxpr() -> None:
    text = """{ lambda ; a. let
    b = scan[
      jaxpr={ lambda ; c. let
        d = f["}"] c
      in (d,) }
    ] a
  in (b,) }"""
    lines = text.split("\n")
    assert folds.by_brackets(lines).tolist() == [6, 5, 4, -1, -1, -1, -1]


EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20)


def as_edges(pairs: list[tuple[int, int]]) -> links.Edges:
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


@given(
    st.lists(st.booleans(), min_size=10, max_size=10),
    EDGES,
    EDGES,
    EDGES,
    st.lists(st.integers(-1, 9), min_size=10, max_size=10),
)
def test_inferred_links_come_from_linked_operations_only(linked, users, operands, called, home) -> None:
    graph = LinkGraph(as_edges(users), as_edges(operands), as_edges(called), np.array(home, np.int64))
    origin = links.infer(np.array(linked), graph)
    for operation, giver in enumerate(origin.tolist()):
        if giver >= 0:
            assert linked[giver]
            assert not linked[operation]


def test_inference_prefers_what_it_calls_then_users_then_operands_then_the_caller() -> None:
    none = as_edges([])
    nowhere = np.full(5, -1, np.int64)
    linked = np.array([False, True, True, True, True])
    everything = LinkGraph(as_edges([(0, 2)]), as_edges([(0, 3)]), as_edges([(0, 1)]), np.array([4, -1, -1, -1, -1]))
    assert links.infer(linked, everything)[0] == 1
    assert links.infer(linked, LinkGraph(everything.by_user, everything.by_operand, none, everything.home))[0] == 2
    assert links.infer(linked, LinkGraph(none, everything.by_operand, none, everything.home))[0] == 3
    assert links.infer(linked, LinkGraph(none, none, none, everything.home))[0] == 4
    assert links.infer(linked, LinkGraph(none, none, none, nowhere))[0] == -1


def test_a_chain_without_sources_takes_the_nearest_one() -> None:
    chain = as_edges([(0, 1), (1, 2), (2, 3)])
    none, nowhere = as_edges([]), np.full(4, -1, np.int64)
    origin = links.infer(np.array([False, False, False, True]), LinkGraph(chain, none, none, nowhere))
    assert origin.tolist() == [3, 3, 3, -1]


def test_locations_are_read_in_all_their_spellings() -> None:
    table = FrameTable()
    definitions = [
        '#loc = loc(unknown)',
        '#loc1 = loc("a.py":3:4 to :9)',
        '#loc2 = loc("b \\22q\\22.py":7:0 to 9:2)',
        '#loc3 = loc("inner"(#loc1))',
        '#loc4 = loc("outer.<locals>.f"(#loc2))',
        '#loc5 = loc(callsite(#loc3 at #loc4))',
        '#loc6 = loc("jit(f)/add"(#loc5))',
        '#loc7 = loc("add:"(#loc6))',
        '#loc8 = loc(fused<"x">[#loc6, #loc1])',
        '#loc9 = loc("x[\'w\']")',
    ]  # fmt: skip
    locations = Locations(definitions, table)
    for text in ("#loc6", "#loc7"):
        frame, scope = locations.place(text)
        assert scope == "jit(f)/add"
        frames = table.freeze()
        inner, outer = (frames.span(f) for f in frames.stack(frame))
        assert (inner.file, inner.function, inner.line, inner.column, inner.end_column) == ("a.py", "inner", 3, 5, 10)
        assert (outer.file, outer.line, outer.end_line, outer.column) == ('b "q".py', 7, 9, 1)
    assert locations.place("#loc8").frame == locations.place("#loc6").frame
    assert locations.place("#loc9") == (-1, "x['w']")
    assert locations.place("#loc99") == locations.place("unknown") == (-1, "")


def test_frames_outside_the_users_program_end_the_stack() -> None:
    here = stablehlo.__file__
    table = FrameTable()
    definitions = [
        '#loc1 = loc("f"("user.py":1:0))',
        f'#loc2 = loc("run"("{here}":5:0))',
        '#loc3 = loc("cell"("c.py":9:0))',
        "#loc4 = loc(callsite(#loc2 at #loc3))",
        "#loc5 = loc(callsite(#loc1 at #loc4))",
    ]
    frame = Locations(definitions, table).place("#loc5").frame
    frames = table.freeze()
    assert [frames.span(f).file for f in frames.stack(frame)] == ["user.py"]


def test_whose_code_a_file_is() -> None:
    assert is_outside(stablehlo.__file__)
    assert is_outside("/env/lib/python3.12/site-packages/IPython/core/interactiveshell.py")
    assert is_outside("/env/lib/python3.12/site-packages/jaxstage_ext/inspecting.py")  # as an earlier version wrote
    assert not is_outside("/home/me/jaxstage_ext/my_model.py")
    assert not is_user("/env/lib/python3.12/site-packages/flax/linen/module.py")
    assert not is_user(linecache.__file__)
    assert is_user("/home/me/model.py")


def test_a_library_frame_points_at_the_users_line_that_called_it() -> None:
    table = FrameTable()
    mine = table.add(Location("me.py", "f", 3, 1, 3, 9), -1)
    library = table.add(Location("/x/site-packages/flax/nn.py", "dense", 70, 1, 70, 9), mine)
    n = np.zeros(1, np.int32)
    document = Document("hlo", "x", table.freeze(), n + library, np.array([OP], np.uint8), n - 1, n - 1)
    span = document.source_of(1)
    assert span is not None
    assert (span.file, span.line) == ("me.py", 3)
    assert document.coverage.direct == 1
    assert [document.frames.files[document.frames.file[f]].user for f in document.frames.stack(library)] == [
        False,
        True,
    ]


@pytest.mark.parametrize("size", [51, 100])
def test_files_are_cut_to_the_functions_that_took_part(tmp_path, size: int) -> None:
    functions = [f"def f{i}(x):\n    y = x + {i}\n    return y\n\n\n" for i in range(size)]
    path = tmp_path / "long.py"
    path.write_text("".join(functions))
    table = FrameTable()
    for i in (3, 50):
        table.add(Location(str(path), f"f{i}", 5 * i + 2, 9, 5 * i + 2, 14), -1)
    document = python.read(table.freeze(), table, table.freeze().inside(""))
    assert document.lines == [
        "# long.py",
        "… 15 lines not shown",
        *functions[3].splitlines()[:3],
        "… 232 lines not shown",
        *functions[50].splitlines()[:3],
        *(["… 247 lines not shown"] if size == 100 else []),
    ]
    assert document.number.tolist()[:9] == [-1, -1, 16, 17, 18, -1, 251, 252, 253]
    assert np.flatnonzero(document.flags & LEFT_OUT).tolist() == [1, 5, 9][: 3 if size == 100 else 2]
    assert document.lines_from(str(path), 252) == document.lines_from("long.py", 252) == [8]


def test_a_source_that_is_gone_says_so() -> None:
    table = FrameTable()
    table.add(Location("/nowhere/gone.py", "f", 2, 1, 2, 5), -1)
    assert python.read(table.freeze(), table, table.freeze().inside("")).lines == ["# gone.py (source not available)"]


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=8
    )
)
def test_documents_survive_json(lines: list[str]) -> None:
    table = FrameTable()
    frame = table.add(Location("a\u2028.py", "<f>", 1, 1, 2, 3), -1)
    n = np.zeros(len(lines), np.int32)
    flags = np.full(len(lines), OP | INFERRED, np.uint8)
    document = Document("hlo", "\n".join(lines), table.freeze(), n + frame, flags, n - 1, n, ("scope",), n)
    head = {"version": 1}
    text = saved_form.dumps({"local": (head, table.freeze(), {"hlo": document})}, "local", {})
    parts, own, _ = saved_reading.loads(text)
    again_head, _, documents = parts[own]
    assert again_head == head | {"notes": [], "views": ["code"]}
    again = documents["hlo"]
    assert again.text == document.text
    assert again.coverage == document.coverage
    assert again.source_of(1) == document.source_of(1)


@pytest.mark.parametrize("cut", range(0, 4000, 371))
def test_damaged_json_is_one_line(cut: int) -> None:
    n = np.zeros(1, np.int32)
    document = Document("hlo", "x" * 3000, FrameTable().freeze(), n - 1, n.astype(np.uint8), n - 1, n - 1)
    text = saved_form.dumps({"local": ({}, FrameTable().freeze(), {"hlo": document})}, "local", {})
    with pytest.raises(ValueError, match="inspection"):
        saved_reading.loads(text[: len(text) * cut // 4000])


def test_a_column_that_unpacks_to_more_than_its_lines_is_damaged() -> None:
    n = np.zeros(100_000, np.int32)
    document = Document("hlo", "x", FrameTable().freeze(), n, n.astype(np.uint8), n, n)
    with pytest.raises(ValueError, match="damaged: a column has more than 1 entries"):
        saved_reading.loads(saved_form.dumps({"local": ({}, FrameTable().freeze(), {"hlo": document})}, "local", {}))
