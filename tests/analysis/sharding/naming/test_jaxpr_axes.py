"""Which dimension each axis in a jaxpr is of: all sizes are equal, so that only what the lines do tells them apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jaxstage_ext.analysis.sharding.naming.jaxpr_axes import MadeValues, jaxpr_axes

TEXT = """\
let shared = { lambda ; a:f32[8]. let b:f32[8] = neg a in (b,) } in
  { lambda ; c:f32[8,8] d:f32[] e:f32[8,1]
      f:i32[8]. let
    g:f32[8,8] = dot_general[dimension_numbers=(([1], [0]), ([], []))] c c
    h:f32[8,8] = transpose[permutation=(1, 0)] g
    i:f32[8,8] = tanh h
    j:f32[8,8] = tanh g
    _:f32[8,8] = exp g
    k:bf16[8,8] l:f32[n,8] = exp g
    m:f32[8] = scan[
      jaxpr={ lambda ; n:f32[8]. let
          o:i32[8@data] = abs n
        in (o,) }
    ] f
    p:i32[8] = abs f
  in (i,) }"""
SCOPES = {10: "jvp()", 9: "jvp()", 12: "jvp()"}
BATCH, IN, OUT = 0, 1, 2


def made(*ops: tuple[str, str, tuple[int, ...], tuple[int, ...]]) -> MadeValues:
    """Of (scope, dtype, shape, dimensions of the axes) of what each operation makes."""
    values = [SimpleNamespace(dtype=dtype, shape=shape) for _, dtype, shape, _ in ops]
    made_by = [SimpleNamespace(scope=scope, results=(at,)) for at, (scope, *_) in enumerate(ops)]
    module: Any = SimpleNamespace(values=values, ops=made_by)
    return MadeValues(module, [axes for *_, axes in ops])


def told(values: MadeValues, *arguments: tuple[int, ...] | None) -> dict[str, tuple[int, ...]]:
    """The dimensions by variable; one without any is left out."""
    lines = TEXT.split("\n")
    document: Any = SimpleNamespace(lines=lines, scope_name=lambda row: SCOPES.get(row, ""))
    found: dict[str, tuple[int, ...]] = {}
    for one in jaxpr_axes(document, arguments, values):
        assert lines[one.row][one.start : one.end] == "8"
        name = lines[one.row][: one.start].rpartition(":")[0][-1]
        found[name] = (*found.get(name, ()), one.place)
    return found


ARGUMENTS: tuple[tuple[int, ...], ...] = ((IN, OUT), (), (BATCH, -1), (BATCH,))


def test_arguments_have_those_of_the_call_in_its_order() -> None:
    assert told(made(), *ARGUMENTS) == {"c": (IN, OUT), "e": (BATCH,), "f": (BATCH,)}
    assert told(made(), *ARGUMENTS[:2], None, ARGUMENTS[3]) == {"c": (IN, OUT), "f": (BATCH,)}
    assert told(made(), *ARGUMENTS[:3]) == {}, "of another number of arguments nothing is known"


def test_a_variable_has_what_all_values_so_alike_have() -> None:
    values = made(
        ("jit(step)/dot_general", "f32", (8, 8), (BATCH, OUT)),
        ("jit(step)/transpose", "f32", (8, 8), (OUT, BATCH)),
        ("jit(step)/tanh", "f32", (8, 8), (OUT, BATCH)),
        ("jit(step)/tanh", "f32", (8, 8), (BATCH, BATCH)),
        ("jit(step)/jvp()/exp", "bf16", (8, 8), (BATCH, OUT)),
    )
    found = told(values)
    assert found["g"] == (BATCH, OUT) and found["h"] == (OUT, BATCH)
    assert found["i"] == found["j"] == (BATCH,), "the two differ in their first axis"
    assert "k" not in found, "that of another scope, and of another dtype"


def test_of_more_variables_than_values_none_is_known() -> None:
    assert "i" not in told(made(("jit(step)/tanh", "f32", (8, 8), (OUT, BATCH))))


def test_a_loop_s_body_is_told_from_what_stands_around_it() -> None:
    inside = ("jit(step)/jvp()/while/body/closed_call/abs", "s32", (8,), (OUT,))
    found = told(made(inside, ("jit(step)/abs", "s32", (8,), (BATCH,))))
    assert found == {"o": (OUT,), "p": (BATCH,)}
