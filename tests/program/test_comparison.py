"""The compare table: figures are those of Cost, Memory and Collectives, unknown ones say why, marks mean something."""

from __future__ import annotations

import html
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from counted_calls import calls_of
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.analysis.cost import module_cost
from jaxstage_ext.analysis.memory import memory_wording
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.core.targets.target import parse
from jaxstage_ext.program.comparing import comparison_wording
from jaxstage_ext.program.comparing.comparison_columns import COLUMNS
from jaxstage_ext.program.comparing.comparison_table import Comparison, TargetFigures
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.table import Column
from jaxstage_ext.views.shown_comparison import ShownComparison

pytestmark = pytest.mark.usefixtures("kept_answers")

W, X = jax.ShapeDtypeStruct((256, 128), jnp.float32), jax.ShapeDtypeStruct((64, 256), jnp.float32)

NOT_COMPILED = "not compiled: %lower stops earlier"


def product(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w)


def inspected(*targets: str, **given: Any) -> Any:
    for target in targets:
        needs(target)
    return jaxstage_ext.inspect(product, W, X, target=list(targets), **given)


@dataclass(frozen=True)
class Cell:
    """A cell as every form shows it."""

    value: float | bool | None
    text: str
    reason: str | None = None
    note: str | None = None
    mark: str = ""


@dataclass(frozen=True)
class Row:
    target: str
    device: str
    cells: Mapping[str, Cell]
    error: str | None


def rows(table: Comparison) -> list[Row]:
    return [
        Row(row["target"], row["device"], {name: Cell(**cell) for name, cell in row["cells"].items()}, row["error"])
        for row in table.to_dict()["rows"]
    ]


def row(table: Comparison, target: str) -> Row:
    return next(row for row in rows(table) if row.target == target)


def test_figures_are_those_of_cost_and_memory() -> None:
    inspection = inspected("local", "cpu:4", mesh=None)
    table = inspection.compare()
    for target in ("local", "cpu:4"):
        cells, own = row(table, target).cells, inspection.targets[target]
        assert cells["flops"].value == own.cost.work.total_flops
        assert cells["bytes"].value == own.cost.work.total_bytes
        assert cells["memory"].value == own.memory.space().reserved == own.memory.fit.needed
        assert cells["fusions"].value == own.documents["hlo"].text.count(" fusion(")
        compiled = own.program.staged.stage("compile")
        assert compiled is not None
        kept = compiled.hit  # of an earlier run
        assert cells["compile"].value == (kept.first_seconds if kept is not None else own.seconds["compile"])


def test_collectives_are_those_of_the_hlo() -> None:
    table = inspected("cpu:4", "cpu:1", stage="lower").compare()
    assert row(table, "cpu:4").cells["collectives"] == Cell(None, "unknown", "not compiled: %lower stops earlier")
    table = inspected("cpu:4", "cpu:8", mesh="d=4", in_specs=(P("d"), P(None, "d"))).compare()
    for target in ("cpu:4", "cpu:8"):
        cells = row(table, target).cells
        assert (cells["collectives"].value, cells["collectives"].note) == (1, "1 all-reduce")
        assert (cells["sent"].value, cells["sent"].text) == (2 * 3 / 4 * 64 * 128 * 4, "49.2 kB"), "2 (n - 1) / n"
        assert not cells["sent"].mark


def test_memory_is_held_against_one_device() -> None:
    table = inspected("v5e:2x2", "v4:2x2x1", "h100").compare()
    for target in ("v5e:2x2", "v4:2x2x1", "h100"):
        cells = row(table, target).cells
        assert cells["capacity"].value == CATALOGUE[parse(target).kind].memory
        assert cells["fits"].value == "yes"
        assert cells["fits"].note is not None
        if cells["memory"].value:
            assert cells["fits"].note == memory_wording.share_of_room(inspected(target).memory.fit)
        else:
            assert cells["fits"].note.startswith("Fits: "), "XLA gives no total before JAX 0.12"


def test_kernels_of_a_gpu_are_its_instructions_that_launch_one() -> None:
    inspection = inspected("h100", "cpu:1")
    text = inspection.documents["hlo"].text
    launched = text[text.index("\nENTRY") :].count(" fusion(") + text.count(" custom-call(")
    assert row(inspection.compare(), "h100").cells["kernels"].value == launched > 0


def test_what_does_not_fit_is_told() -> None:
    large = jax.ShapeDtypeStruct((1 << 17, 1 << 16), jnp.float32)
    needs("h100")
    table = jaxstage_ext.inspect(lambda x: x @ x.T, large, target=["h100", "cpu:1"], stage="compile").compare()
    cells = row(table, "h100").cells
    assert (cells["fits"].value, cells["fits"].text) == ("no", "no")
    assert cells["fits"].note is not None
    assert "121%" in cells["fits"].note


def test_a_time_is_the_rooflines_lower_bound() -> None:
    inspection = inspected("v5e:2x2", "cpu:1")
    table = inspection.compare()
    assert row(table, "v5e:2x2").cells["time"].value == inspection.cost.roofline.total > 0
    for name in ("time", "kernels"):
        assert row(table, "cpu:1").cells[name].value is None
        assert row(table, "cpu:1").cells[name].reason


def test_every_unknown_has_its_reason() -> None:
    for cell in (cell for one in rows(inspected("local", "cpu:2").compare()) for cell in one.cells.values()):
        assert (cell.value is None) == (cell.reason is not None), cell
        assert cell.text


def test_a_target_that_failed_is_one_line_among_the_others() -> None:
    def calls_back(x: Any) -> Any:
        jax.debug.callback(lambda x: None, x)
        return x + 1

    needs("v5e:2x2")
    table = jaxstage_ext.inspect(calls_back, X, target=["cpu:1", "v5e:2x2"]).compare()
    failed = row(table, "v5e:2x2")
    assert failed.error is not None
    assert failed.error.startswith("lower failed: Unavailable: the program calls back into Python")
    assert failed.cells["memory"] == Cell(None, "unknown", "lower failed")
    assert row(table, "cpu:1").cells["memory"].value is not None
    assert "v5e:2x2: lower failed" in str(table)


def made(device: str = "tpu", **values: float | None) -> TargetFigures:
    known = {name: Figure(value, None if value is not None else "none") for name, value in values.items()}
    return TargetFigures("v5e:2x2", device, dict.fromkeys(COLUMNS, Figure(None, "no reason")) | known)


def marks(column: str, *targets: TargetFigures) -> list[str]:
    return [row.cells[column].mark for row in rows(Comparison.of("f", targets))]


def test_best_and_worst_only_where_known_and_different() -> None:
    targets = [made(memory=memory, flops=flops) for memory, flops in ((3, 1), (1, 2), (None, 3), (3, 4))]
    assert marks("memory", *targets) == ["worst", "best", "", "worst"]
    assert marks("flops", *targets) == [""] * 4
    assert marks("memory", made(memory=2), made(memory=2)) == ["", ""]
    partly = replace(made(), figures=dict(made().figures) | {"memory": Figure(0, text="at least 0 B")})
    assert marks("memory", partly, *targets[:2]) == ["", "worst", "best"]
    assert marks("compile", made(compile=1.0001), made(compile=1.0002)) == ["", ""], "as shown, they are the same"


def test_it_goes_through_json_pandas_text_and_html() -> None:
    table = inspected("local", "cpu:2").compare()
    again = Comparison.from_dict(json.loads(json.dumps(table.to_dict())))
    assert again.to_dict() == table.to_dict()
    assert again.to_json() == table.to_json()
    assert str(table).splitlines()[0].split()[:3] == ["target", "fits", "memory"]
    assert (
        "unknown: kernel launches on local, kernel launches on cpu:2 (the HLO of a CPU does not show its kernels)"
        in str(table)
    )
    html = table._repr_html_()
    assert html.count("<tr>") == 3
    assert "<script" not in html
    if importlib.util.find_spec("pandas"):
        assert list(table.to_pandas().index) == ["local", "cpu:2"]
    else:
        with pytest.raises(ImportError):
            table.to_pandas()


def test_names_are_data_not_markup() -> None:
    table = inspected("local", "cpu:2").compare()
    bad = {"target": Column(["<img onerror=x>"]), "error": Column(['"><script>alert(1)</script>'])}
    first = table.take([0])
    html = ShownComparison.of_table(replace(first, columns={**first.columns, **bad}))._repr_html_()
    assert "<img" not in html
    assert "<script" not in html


def test_the_summary_holds_it_once_and_every_form_shows_it() -> None:
    inspection = inspected("local", "cpu:2")
    first, second = (one.summary() for one in inspection.targets.values())
    assert [one["target"] for one in first["compare"]["rows"]] == ["local", "cpu:2"]
    assert (first["compare"]["row"], second["compare"]) == (0, {"row": 1})
    assert first["views"][2] == "compare"
    assert "memory needed" in repr(inspection).split("┌")[0]
    assert inspected("local").summary()["compare"] is None


def test_all_targets_of_an_earlier_version_stand_below_all_of_this_one() -> None:
    now, before = inspected("local", "cpu:2"), inspected("local", "cpu:2")
    assert list(now.compare(before)["target"]) == ["local", "cpu:2", "local · before", "cpu:2 · before"]
    assert list(now.targets) == ["local", "cpu:2"]


def test_it_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspected("cpu:1", "cpu:2")
    inspection.summary()
    counted = calls_of(monkeypatch, module_cost, "read")
    inspection.compare()
    inspection.summary()
    assert counted == []


def test_what_is_partly_known_says_so_in_every_form() -> None:
    def unrolled(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c.sum() > 1, lambda c: jnp.tanh(c @ c), x)

    table = jaxstage_ext.inspect(unrolled, jnp.ones((8, 8)), target=["local", "cpu:2"]).compare()
    cell = row(table, "local").cells["flops"]
    assert cell.text.startswith("at least ")
    assert cell.note is not None
    assert "unknown length" in cell.note
    assert cell.text in str(table)
    assert cell.text in table._repr_html_()
    assert Comparison.from_dict(json.loads(json.dumps(table.to_dict()))).to_dict() == table.to_dict()
    assert row(table.take([1]), "cpu:2").cells["flops"].text == cell.text


def test_the_time_of_a_compile_that_was_cached_is_compared_with_none() -> None:
    """Its wall time is that of a look-up: the order of two programs would be that of what else the kernel did."""

    @jax.jit
    def called_before(x: jax.Array) -> jax.Array:
        return jnp.sin(x @ x)

    x = jnp.ones((16, 16))
    called_before(x)
    before = jaxstage_ext.inspect(called_before, x)
    now = jaxstage_ext.inspect(jax.jit(lambda x: x * 2), x)
    table = now.compare(before)
    time = row(table, "before").cells["compile"]
    assert (time.value, "cached" in time.reason) == (None, True)
    assert not row(table, "local").cells["compile"].mark


def test_launches_that_may_all_not_happen_are_unknown() -> None:
    """The loop may run zero times, and everything that launches is in it: "at least 0" says nothing."""
    needs("h100")

    def looped(x: Any, n: Any) -> Any:
        return jax.lax.fori_loop(0, n, lambda i, c: jnp.sin(c) @ c, x)

    of = jax.ShapeDtypeStruct((128, 128), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)
    figure = row(jaxstage_ext.inspect(looped, *of, target="h100").compare(), "h100").cells["kernels"]
    assert figure.value is None and "loops or branches" in str(figure)


def test_a_comparison_with_a_version_begins_with_what_got_worse_and_its_line() -> None:
    """One more product of (64, 256) by (256, 256): 2 * 64 * 256 * 256 FLOP, as many as the first."""
    square = jax.ShapeDtypeStruct((256, 256), jnp.float32)

    def once(w: Any, x: Any) -> Any:
        h = x @ w
        return jnp.tanh(h)

    def twice(w: Any, x: Any) -> Any:
        h = x @ w
        h = h @ w
        return jnp.tanh(h)

    before, after = (jaxstage_ext.inspect(fn, square, X) for fn in (once, twice))
    line = f"test_comparison.py:{twice.__code__.co_firstlineno + 2}"
    compared = after.compare(before)
    assert compared.headline.startswith("Worse than before in ") and compared.headline in str(compared).replace(
        "\n  ", " "
    )
    assert "FLOPs: 16.8 MFLOP, was 8.39 MFLOP (2×), most by " in compared.headline
    assert compared.headline.split("FLOPs")[1].split(";")[0].rstrip(".").endswith(line)
    assert compared.headline in html.unescape(compared._repr_html_())
    assert Comparison.from_dict(compared.to_dict()).headline == compared.headline
    assert before.compare(after).headline.startswith("Better than before in ")
    assert "h @ w" in after.difference(before).text("python")


def test_a_version_that_moved_is_not_blamed_for_lines_that_stayed() -> None:
    def shifted(w: Any, x: Any) -> Any:

        return jnp.tanh(x @ w)

    before = jaxstage_ext.inspect(product, W, X)
    assert jaxstage_ext.inspect(shifted, W, X).compare(before).headline == comparison_wording.against("before", [])


def test_what_a_cache_kept_is_not_ranked() -> None:
    rows = [TargetFigures(name, "", dict.fromkeys(COLUMNS, Figure(seconds))) for name, seconds in (("a", 1), ("b", 2))]
    kept = replace(rows[1], looked_up=frozenset({"compile"}))
    assert {place[1] for place in Comparison.of("f", rows).marks} > {"compile"}
    assert "compile" not in {place[1] for place in Comparison.of("f", [rows[0], kept]).marks}
