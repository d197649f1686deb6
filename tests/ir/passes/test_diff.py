"""Structural differences of HLO texts: by hand, and of random modules."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.ir.passes import diff, hlo_line
from jaxstage_ext.ir.passes.diff import CHANGED, GONE, SAME

GOLDEN = sorted((Path(__file__).parents[2] / "golden").rglob("hlo.golden"))

BEFORE = """HloModule m

%fused.1 (p.1: f32[8]) -> f32[8] {
  %p.1 = f32[8]{0} parameter(0)
  ROOT %neg.1 = f32[8]{0} negate(%p.1)
}

ENTRY %main.9 (a.1: f32[8], b.1: f32[8]) -> f32[8] {
  %a.1 = f32[8]{0} parameter(0)
  %b.1 = f32[8]{0} parameter(1)
  %sum.1 = f32[8]{0} add(%a.1, %b.1)
  %fusion.3 = f32[8]{0} fusion(%sum.1), kind=kLoop, calls=%fused.1
  %sine.1 = f32[8]{0} sine(%fusion.3)
  ROOT %out.1 = f32[8]{0} multiply(%sine.1, %a.1)
}
"""


def states(before: str, after: str) -> tuple[dict[str, int], dict[str, int]]:
    """The states of the instructions and heads that are not the same, by name."""
    found = diff.compare(before, after)

    def named(lines: tuple[str, ...], column: np.ndarray) -> dict[str, int]:
        return {
            hlo_line.read(line).name or line: state for line, state in zip(lines, column.tolist(), strict=True) if state
        }

    return named(found.before, found.state_before), named(found.after, found.state_after)


def renamed(text: str, number: int = 1000) -> str:
    """Every name another one, so that none stays and numbers are given out anew."""
    names = list(dict.fromkeys(re.findall(r"%([\w.-]+)", text)))
    new = {name: f"{name.partition('.')[0]}_{number + i}" for i, name in enumerate(reversed(names))}
    text = re.sub(r"%([\w.-]+)", lambda found: f"%{new[found[1]]}", text)
    return re.sub(r"([\w.-]+)(?=: \w+\[)", lambda found: new.get(found[1], found[1]), text)


def test_the_same_text_has_no_difference() -> None:
    found = diff.compare(BEFORE, BEFORE)
    assert not found
    assert repr(found) == "no difference but names and metadata"
    assert found.match_before.tolist() == list(range(len(found.before)))


def test_renaming_is_no_change() -> None:
    found = diff.compare(BEFORE, renamed(BEFORE))
    assert not found
    assert found.match_before.tolist() == list(range(len(found.before)))


def test_names_that_change_places_are_followed_by_structure() -> None:
    swapped = BEFORE.replace("sum.1", "tmp").replace("sine.1", "sum.1").replace("tmp", "sine.1")
    found = diff.compare(BEFORE, swapped)
    assert not found
    assert found.match_before.tolist() == list(range(len(found.before)))


def test_an_instruction_put_between_changes_only_itself_and_its_user() -> None:
    after = BEFORE.replace(
        "  %sine.1 = f32[8]{0} sine(%fusion.3)",
        "  %copy.7 = f32[8]{0} copy(%fusion.3)\n  %sine.1 = f32[8]{0} sine(%copy.7)",
    )
    assert states(BEFORE, after) == ({"sine.1": CHANGED}, {"copy.7": GONE, "sine.1": CHANGED})
    assert states(BEFORE, renamed(after))[0] == {"sine.1": CHANGED}


def test_a_layout_is_a_change_of_the_instruction_alone() -> None:
    after = BEFORE.replace("%sine.1 = f32[8]{0}", "%sine.1 = f32[8]{0:T(128)}")
    assert states(BEFORE, after) == ({"sine.1": CHANGED}, {"sine.1": CHANGED})


def test_the_order_in_which_xla_prints_options_is_no_change() -> None:
    one, other = (
        f"kind=kLoop, calls=%fused.1, backend_config={{{config}}}"
        for config in ('"a":1,"b":{"c":[]}', '"b":{"c":[]},"a":1')
    )
    before, after = (BEFORE.replace("kind=kLoop, calls=%fused.1", config) for config in (one, other))
    assert not diff.compare(before, after)
    assert diff.compare(before, after.replace('"a":1', '"a":2'))


def test_a_removed_instruction() -> None:
    after = BEFORE.replace("  %sine.1 = f32[8]{0} sine(%fusion.3)\n", "").replace(
        "(%sine.1, %a.1)", "(%fusion.3, %a.1)"
    )
    assert states(BEFORE, after) == ({"sine.1": GONE, "out.1": CHANGED}, {"out.1": CHANGED})


def test_an_instruction_merged_with_an_equal_one_leaves_its_users_as_they_are() -> None:
    before = BEFORE.replace("  %sine.1 =", "  %sum.2 = f32[8]{0} add(%a.1, %b.1)\n  %sine.1 =").replace(
        "(%sine.1, %a.1)", "(%sine.1, %sum.2)"
    )
    after = BEFORE.replace("(%sine.1, %a.1)", "(%sine.1, %sum.1)")
    found = diff.compare(before, after)
    assert states(before, after) == ({"sum.2": GONE}, {})
    gone = int(np.flatnonzero(found.state_before == GONE)[0])
    assert "%sum.1 =" in found.after[found.match_before[gone]]


def test_a_changed_fusion_body_is_shown_where_it_is() -> None:
    after = BEFORE.replace("negate(%p.1)", "cosine(%p.1)")
    here, there = states(BEFORE, after)
    assert set(here) == set(there) == {"neg.1"}


def test_inlining_moves() -> None:
    after = (
        re.sub(r"%fused.1 \(.*?\n}\n\n", "", BEFORE, flags=re.DOTALL)
        .replace(
            "%fusion.3 = f32[8]{0} fusion(%sum.1), kind=kLoop, calls=%fused.1", "%neg.1 = f32[8]{0} negate(%sum.1)"
        )
        .replace("sine(%fusion.3)", "sine(%neg.1)")
    )
    here, there = states(BEFORE, after)
    assert here["fused.1"] == here["p.1"] == here["fusion.3"] == GONE
    assert there["sine.1"] == CHANGED
    found = diff.compare(BEFORE, after)
    row = next(i for i, line in enumerate(found.before) if "%neg.1" in line)
    assert "%neg.1 =" in found.after[found.match_before[row]]


@pytest.mark.parametrize(
    "text", ["", "junk", "}\n}\n{", "ENTRY %m () -> f32[] {\n  %a = f32[] add(%nothing, %a)", "\n\n"]
)
def test_what_is_no_module_has_rows_too(text: str) -> None:
    for one, other in ((text, BEFORE), (BEFORE, text), (text, text)):
        found = diff.compare(one, other)
        check_sound(found)
    assert not diff.compare(text, text)


OPCODES = ("add", "multiply", "negate", "dot", "copy")
INSTRUCTIONS = st.lists(
    st.tuples(
        st.sampled_from(OPCODES),
        st.sampled_from(("f32[8]{0}", "f32[4,2]{1,0}")),
        st.integers(0, 50),
        st.integers(0, 50),
    ),
    min_size=1,
    max_size=25,
)


def module(body: list[tuple[str, str, int, int]]) -> str:
    names = ["a", "b"]
    lines = ["  %a = f32[8]{0} parameter(0)", "  %b = f32[8]{0} parameter(1)"]
    for number, (opcode, shape, first, second) in enumerate(body):
        operands = f"%{names[first % len(names)]}, %{names[second % len(names)]}"
        lines.append(f"  %{opcode}.{number} = {shape} {opcode}({operands})")
        names.append(f"{opcode}.{number}")
    return "\n".join(["HloModule m", "", "ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {", *lines, "}", ""])


def check_sound(found: diff.Diff) -> None:
    """What holds of every difference: matches point both ways, each row is shown once, in its order."""
    for match, back, state in (
        (found.match_before, found.match_after, found.state_before),
        (found.match_after, found.match_before, found.state_after),
    ):
        for row, other in enumerate(match.tolist()):
            if state[row] in (SAME, CHANGED) and other >= 0:
                assert back[other] == row
    for side, lines in ((found.left, found.before), (found.right, found.after)):
        assert side[side >= 0].tolist() == list(range(len(lines)))
    assert len(found.left) == len(found.right)
    assert not ((found.left < 0) & (found.right < 0)).any()
    sizes = {name: found.counts[name] for name in ("removed", "added")}
    assert (found.state_before == GONE).sum() == sizes["removed"]
    assert (found.state_after == GONE).sum() == sizes["added"]


@given(INSTRUCTIONS)
def test_a_random_module_renamed_is_the_same(body: list[tuple[str, str, int, int]]) -> None:
    found = diff.compare(module(body), renamed(module(body)))
    assert not found
    check_sound(found)


@settings(max_examples=200)
@given(INSTRUCTIONS, INSTRUCTIONS)
def test_any_two_modules(one: list[tuple[str, str, int, int]], other: list[tuple[str, str, int, int]]) -> None:
    found = diff.compare(module(one), renamed(module(other)))
    check_sound(found)
    a, b = found.before, found.after
    for row, state in enumerate(found.state_before.tolist()):
        if state == SAME and a[row].startswith("  "):
            bare = [re.sub(r"%[\w.-]+", "%", line) for line in (a[row], b[found.match_before[row]])]
            assert bare[0] == bare[1]


@given(INSTRUCTIONS, st.data())
def test_dead_code_added_is_all_that_is_found(body: list[tuple[str, str, int, int]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(body)))
    text = module(body)
    lines = text.split("\n")
    lines.insert(3 + 2 + place, "  %extra = f32[3]{0} tanh(%a)")
    after = "\n".join(lines)
    assert states(text, renamed(after))[0] == {}
    assert len(states(text, renamed(after))[1]) == 1


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_golden_modules_renamed(path: Path) -> None:
    text = "\n".join(line.partition("│ ")[2] for line in path.read_text().split("\n"))
    assert text.count(" = ") > 1
    assert not diff.compare(text, renamed(text))
