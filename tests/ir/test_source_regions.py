"""Of a file only the functions that took part are shown, each from its decorators to its end."""

from __future__ import annotations

import pytest

from jaxstage_ext.ir.sources.source_regions import UsedPlace, called_at, regions

SOURCE = """\
TOKEN = "secret"                      # 1
class Net(Module,                     # 2
          strict=True):               # 3
    key = "secret"                    # 4
    @jax.jit                          # 5
    @partial(jax.vmap)                # 6
    def __call__(self, x):            # 7
        def inner(y):                 # 8
            return y                  # 9
        return [inner(v) for v in x]  # 10
    def other(self):                  # 11
        return "secret"               # 12
def make(token="secret"):             # 13
    def step(x):                      # 14
        return x                      # 15
    return step, "secret"             # 16
f = {"token": "secret",               # 17
     "f": lambda x: x}                # 18

g = jit(lambda x: x + 1)              # 20
y = g(
    3)                                # 22
""".splitlines(keepends=True)


@pytest.mark.parametrize(
    ("line", "function", "shown"),
    [
        (10, "Net.__call__", [(2, 3), (5, 10)]),
        (9, "Net.__call__.<locals>.inner", [(2, 3), (8, 9)]),
        (10, "Net.__call__.<locals>.<listcomp>", [(2, 3), (5, 10)]),
        (5, "Net.__call__", [(2, 3), (5, 10)]),
        (15, "make.<locals>.step", [(14, 15)]),
        (14, "make", [(13, 16)]),
        (18, "<lambda>", [(18, 18)]),
        (20, "<lambda>", [(20, 20)]),
        (21, "<module>", [(21, 22)]),
        (4, "Net", [(4, 4)]),
        (12, "of_another_version", [(12, 12)]),
        (99, "gone", []),
    ],
)
def test_what_is_shown_of_a_frame(line: int, function: str, shown: list[tuple[int, int]]) -> None:
    assert regions(SOURCE, [UsedPlace(line, line + (line == 21), function)]) == shown


def test_a_caller_is_shown_by_its_call_alone() -> None:
    assert regions(SOURCE, [UsedPlace(16, 16, "make", alone=True)]) == [(16, 16)]


def test_blank_lines_between_regions_are_no_gap() -> None:
    assert regions(SOURCE, [UsedPlace(18, 18, "<lambda>"), UsedPlace(20, 20, "<lambda>")]) == [(18, 20)]


@pytest.mark.parametrize("source", ["def f(:\n  x\n", "\0\n\n", "(" * 9999 + "\n\n", "%time x\nf\n"])
def test_of_a_file_that_cannot_be_parsed_only_the_lines_themselves_are_shown(source: str) -> None:
    lines = source.splitlines(keepends=True)
    assert regions(lines, [UsedPlace(1, 1, "f")]) == [(1, 1)]


def test_the_call_of_a_cell_is_shown_with_its_magic() -> None:
    cell = ["# %%compile\n", 'token = "secret"\n', "login(token)\n", "jax.f(x)\n", "f(\n", "  y)\n"]
    assert [(place.line, place.end_line) for place in called_at(cell, "f")] == [(1, 1), (5, 6), (4, 4)]


@pytest.mark.parametrize(("function", "shown"), [("Net.other", [(2, 3), (11, 12)]), ("gone", []), ("<module>", [])])
def test_of_a_text_that_was_not_traced_lines_are_not_believed(function: str, shown: list[tuple[int, int]]) -> None:
    assert regions(SOURCE, [UsedPlace(1, 1, function), UsedPlace(4, 4, "Net", alone=True)], False) == shown
