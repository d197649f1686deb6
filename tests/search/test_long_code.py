"""Code of large states: by field where fields have names, else in lines that can be read."""

from __future__ import annotations

from jaxstage_ext.search.layout_code import CodeForm, Flattened, PastedLayout, Replaced, code

SPECS = ("P()", "P(None, 'data')") * 40


def written(tree: object, form: CodeForm) -> str:
    return code(form, PastedLayout({"data": 4}, {"opt": tree}, (), None, "step"))


def test_a_named_tuple_is_written_by_its_fields() -> None:
    text = written((Replaced("opt[0]", {"count": "P()", "mu": {"w": "P('data')"}}), "opt[1]"), CodeForm.IN_SPECS)
    assert "opt[0]._replace(" in text and "mu={" in text and "unflatten" not in text
    one_line = written(Replaced("opt", {"count": "P()", "mu": {"w": "P('data')"}}), CodeForm.LINE)
    assert one_line == """--mesh "data=4" --in-spec "opt=opt._replace(count=P(), mu={'w': P('data'),},)\""""


def test_many_flattened_specs_take_several_lines_of_which_none_is_cut() -> None:
    tree = Flattened("opt", SPECS)
    lines = written(tree, CodeForm.IN_SPECS).split("\n")
    assert len(lines) > 10 and max(map(len, lines)) < 100
    flat = eval(written(tree, CodeForm.LINE).split("structure(opt), ")[1].rstrip(')"'), {"P": lambda *axes: axes})
    assert flat == [(), (None, "data")] * 40
