"""Option sets and earlier versions, side by side: `-O 0 -O 3`, a flag with several values, `--vs`."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

import jaxstage_ext
from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import Answer, BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program.program import Program

FAST = "xla_cpu_enable_fast_math"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        assert made.run("%compile -q -o before --xla cpu_enable_fast_math=False loss(w, x)").ok
        yield made


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("-O 0 -O 3", ["-O 0", "-O 3"]),
        (
            "--xla cpu_enable_fast_math=True --xla xla_cpu_enable_fast_math=False",
            ["cpu_enable_fast_math=True", "cpu_enable_fast_math=False"],
        ),
        (
            "--xla allow_excess_precision=False -O 1 -O 0 -t local -t cpu:2",
            ["-O 1", "-O 0", "cpu:2 · -O 1", "cpu:2 · -O 0"],
        ),
    ],
)
def test_what_is_given_twice_is_compiled_with_each(shell: Shell, line: str, labels: list[str]) -> None:
    seen = shell.run(f"%compile {line} -o ins loss(w, x)")
    assert seen.ok, seen.text
    targets = shell["ins"].targets
    assert list(targets) == labels == shell["ins"].compare()["target"]
    assert all(label in seen.text for label in labels)
    for label, inspection in targets.items():
        level = {"0": 0, "1": 1, "3": 3}.get(label[-1])
        options = inspection.summary()["options"]
        assert level is None or options["xla_backend_optimization_level"] == level
        assert not label.endswith(("=True", "=False")) or options[FAST] is label.endswith("True")
    traced = {id(inspection.traced) for inspection in targets.values()}
    lowered = {id(inspection.lowered) for inspection in targets.values()}
    assert (len(traced), len(lowered)) == (1, len({i.target for i in targets.values()}))


def test_an_option_reaches_the_compile_that_it_is_of() -> None:
    def fn(x: jax.Array) -> jax.Array:
        return jnp.exp(x * 2 + 1).sum()

    sets = [{"xla_disable_hlo_passes": "fusion,cpu-parallel-task-assigner"}, {}]
    found = jaxstage_ext.inspect(fn, jnp.ones((256, 256)), compiler_options=sets)
    own = jax.jit(fn).lower(jnp.ones((256, 256)))
    texts = [own.compile(compiler_options=dict(one)).as_text() for one in sets]
    assert [one.module.fusions for one in (i.program for i in found.targets.values())] == [
        text.count(" fusion(") for text in texts
    ]
    assert list(found.targets) == ["disable_hlo_passes=fusion,cpu-parallel-task-assigner", "no options"]


def test_run_takes_the_first_set(shell: Shell) -> None:
    seen = shell.run("%compile -q -O 0 -O 1 --run -o ran loss(w, x)")
    assert seen.value == shell["ran"].targets["-O 0"].execute()
    assert float(seen.value) == pytest.approx(float(shell.run("loss(w, x)").value), rel=1e-5)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%compile -O 1 -O 1 loss(w, x)", "two of the sets of compile options are the same: -O 1; drop one"),
        (
            f"%compile -O 0 -O 1 -O 2 {' '.join(f'--xla backend_extra={i}' for i in range(9))} loss(w, x)",
            "the options combine to 27 compiles; give values for at most 16",
        ),
        ("%compile --vs nothing loss(w, x)", "no variable nothing; compile the earlier version with -o nothing"),
        ("%compile --vs no.thing loss(w, x)", "--vs no.thing: NameError: name 'no' is not defined"),
        ("%compile --vs x loss(w, x)", "--vs x is an ArrayImpl; give an Inspection, as -o NAME binds it"),
        ("%compile --vs '(before, before)' loss(w, x)", "of 2 inspections; name one, as in (before, before)[0]"),
        ("%compile --vs before loss(w, x); jax.grad(loss)(w, x)", "--vs compares one call, and there are 2: loss, "),
    ],
)
def test_mistakes_are_told_in_one_line(shell: Shell, line: str, told: str) -> None:
    seen = shell.run(line)
    assert isinstance(seen.error, UsageError), seen.text
    assert told in str(seen.error)
    assert len(str(seen.error).splitlines()) == 1


def test_sets_that_are_no_dicts_are_refused() -> None:
    with pytest.raises(ValueError, match="must be a dict, or a list of dicts to compare"):
        jaxstage_ext.inspect(jnp.sin, jnp.ones(3), compiler_options=["-O 0", "-O 3"])  # type: ignore[list-item]


# ---- an earlier version --------------------------------------------------------------------------------------------


NEW = """%%compile --vs before -o new
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) * 3)
loss(w, x)
"""


def test_an_earlier_version_stands_below_with_its_own_figures(shell: Shell) -> None:
    seen = shell.run(NEW)
    assert seen.ok, seen.text
    new, before = shell["new"], shell["before"]
    assert list(new.targets) == ["local", "before"]
    assert new.compare()["flops"] == [new.row().figures["flops"].value, before.row().figures["flops"].value]
    assert new.compare()["flops"][0] > new.compare()["flops"][1]
    assert new.targets["before"].documents["hlo"].text == before.documents["hlo"].text
    assert list(before.targets) == ["local"]  # which nothing was added to
    assert list(new.compare(before)["target"]) == ["local", "before"]


def test_the_lines_that_differ_are_those_of_the_texts(shell: Shell) -> None:
    shell.run(NEW)
    new, before = shell["new"], shell["before"]
    table = new.difference(before)
    assert table["document"] == ["source", "jaxpr", "StableHLO", "optimised HLO"]
    assert "+     return jnp.sum(jnp.tanh(x @ w) * 3)" in table.text("python")
    added = [line[2:] for line in table.text("jaxpr").splitlines() if line.startswith("+")]
    assert [line.split("= ")[-1].split()[0] for line in added] == ["mul"]
    assert table["added"][1] == 1 == sum(line.startswith("+") for line in table.text("jaxpr").splitlines())
    with pytest.raises(KeyError, match="'machine': there is python, jaxpr, stablehlo, hlo to compare"):
        table.text("machine")

    programs = [one.program for one in new.targets.values()]
    reply, _ = answered(programs, {"call": 0, "before": 1, "after": 0})
    assert {one["kind"]: one["counts"]["added"] for one in reply["documents"]} == dict(
        zip(("python", "jaxpr", "stablehlo", "hlo"), table["added"], strict=True)
    )
    back, _ = answered(programs, {"call": 0, "before": 0, "after": 1})
    assert [one["counts"]["removed"] for one in back["documents"]] == table["added"]
    with pytest.raises(BadRequest, match="after must be an integer from 0 to 1, not 2"):
        answered(programs, {"call": 0, "before": 0, "after": 2})


def answered(programs: list[Program], params: dict[str, int]) -> Answer:
    return answered_at_once(dispatch.methods()["difference"], programs, params)


def test_a_comparison_is_saved_with_its_labels(shell: Shell) -> None:
    shell.run("%compile -q -o sets -O 0 -O 3 -t local -t cpu:2 --vs before loss(w, x)")
    saved = jaxstage_ext.Inspection.from_json(shell["sets"].to_json())
    assert list(saved.targets) == list(shell["sets"].targets)
    assert list(saved.targets)[-1] == "before"
    assert [str(one.target) for one in saved.targets.values()] == ["local", "local", "cpu:2", "cpu:2", "local"]
    assert saved.compare().to_dict() == shell["sets"].compare().to_dict()
    again = shell.run("%compile -q -o third --vs sets loss(w, x)")
    assert again.ok, again.text
    assert "before" not in " ".join(shell["third"].targets)
    assert shell.run("v5e = before\n%compile -q -o fifth --vs v5e loss(w, x)").ok
    assert list(shell["fifth"].targets) == ["local", "before: v5e"], "it is not the target of that name"
    assert shell.run("%compile -q -o fourth --vs 'sets.targets[\"-O 3\"]' loss(w, x)").ok
    assert list(shell["fourth"].targets) == ["local", 'sets.targets["-O 3"]']
    assert shell.run("%compile -q -o apart --isolate -O 0 -O 3 loss(w, x)").ok
    assert list(shell["apart"].targets) == ["-O 0", "-O 3"]


def test_an_earlier_failure_does_not_fail_the_cell(shell: Shell) -> None:
    shell.ip.push({"broken": failed_inspection()}, interactive=True)
    seen = shell.run("%compile --vs broken -o new loss(w, x)")
    assert seen.ok, seen.text
    assert shell["new"].compare()["flops"][1] is None
    assert "failed" in shell["new"].compare()["error"][1]


def failed_inspection() -> jaxstage_ext.Inspection:
    def fn(x: jax.Array) -> jax.Array:
        raise TypeError("no such layer")

    with pytest.raises(TypeError) as caught:
        jaxstage_ext.inspect(fn, jnp.ones(3))
    found = caught.value.inspection  # type: ignore[attr-defined]
    assert isinstance(found, jaxstage_ext.Inspection)
    return found
