"""Which lines of two texts are alike, and how long that takes."""

from __future__ import annotations

import difflib
import random
import sys

from jaxstage_ext.ir.line_difference import ADDED, REMOVED, RENAMED, SAME, line_difference


def what(before, after, kind=""):
    return [(pair.what, pair.before, pair.after) for pair in line_difference(before, after, kind)]


def test_lines_are_removed_and_added_where_they_stand():
    assert what(["a", "b", "c"], ["a", "x", "c"]) == [(SAME, 0, 0), (REMOVED, 1, -1), (ADDED, -1, 1), (SAME, 2, 2)]
    assert what([], ["a"]) == [(ADDED, -1, 0)]
    assert what(["a"], []) == [(REMOVED, 0, -1)]
    assert what([], []) == []


def test_values_that_were_renamed_are_the_same_lines():
    tanh, mul = "    c:f32[8] = tanh a", "    d:f32[8] = mul c 2.0:f32[]"
    before = [tanh, "    d:f32[] = reduce_sum[axes=(0,)] c", "  in (d,) }"]
    after = [tanh, mul, "    e:f32[] = reduce_sum[axes=(0,)] d", "  in (e,) }"]
    assert what(before, after, "jaxpr") == [(SAME, 0, 0), (ADDED, -1, 1), (RENAMED, 1, 2), (RENAMED, 2, 3)]


def test_another_operation_is_no_renaming():
    other = "    sin:f32[8] = tanh a"
    assert what(["    a:f32[8] = sin b", other], ["    a:f32[8] = cos b", other], "jaxpr")[0][0] == REMOVED
    assert what(["%0 = stablehlo.sine %1"], ["%0 = stablehlo.tanh %1"], "stablehlo")[0][0] == REMOVED


def test_every_line_of_both_is_there_once_in_its_order():
    chance = random.Random(7)
    for _ in range(200):
        before = [chance.choice("abcdefgh") * 2 for _ in range(chance.randrange(30))]
        after = [line for line in before if chance.random() > 0.3]
        at = chance.randrange(len(after) + 1)
        after[at:at] = [chance.choice("xyab") for _ in range(3)]
        pairs = line_difference(before, after)
        assert [pair.before for pair in pairs if pair.before >= 0] == list(range(len(before)))
        assert [pair.after for pair in pairs if pair.after >= 0] == list(range(len(after)))
        assert all(before[pair.before] == after[pair.after] for pair in pairs if pair.what == SAME)


def test_it_finds_what_difflib_finds_in_a_program():
    before = [f"%{n} = stablehlo.add %{n - 1}, %{n % 7} : tensor<{n % 50}xf32>" for n in range(300)]
    after = [line for n, line in enumerate(before) if n % 40 != 3]
    ours = sum(pair.what != SAME for pair in line_difference(before, after))
    theirs = sum(line[0] in "+-" for line in difflib.ndiff(before, after))
    assert ours == theirs


def test_many_lines_take_steps_that_grow_with_their_number():
    def steps(count):
        before = [f"line {n % 1000}" for n in range(count)]
        after = [f"line {(n * 7) % 1000}" for n in range(count)]
        taken = 0

        def count_line(frame, event, argument):
            nonlocal taken
            taken += event == "line"
            return count_line

        tracer = sys.gettrace()
        sys.settrace(count_line)
        try:
            line_difference(before, after)
        finally:
            sys.settrace(tracer)
        return taken

    assert steps(2_000) > 2_000
    assert steps(20_000) < 15 * steps(2_000)
