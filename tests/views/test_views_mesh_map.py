"""What JAX refuses to lay out, drawn in text and in HTML that runs no code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.analysis.sharding.mesh_drawing import MOST_COLUMNS, MOST_ROWS, Sheet, sheet
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import replicated
from jaxstage_ext.views import mesh_map
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text


class Cells(HTMLParser):
    """The texts of a table's cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.found.append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = tag not in ("td", "table") and self.inside

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found[-1] += data


@pytest.fixture(scope="module")
def refused() -> Inspection:
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    jitted = jax.jit(jnp.tanh, in_shardings=NamedSharding(mesh, P("data", "model")))
    with pytest.raises(ValueError, match="divi") as raised:
        inspect(jitted, jnp.ones((7, 6)))
    found = raised.value.inspection  # type: ignore[attr-defined]
    assert isinstance(found, Inspection)
    return found


def test_the_summary_names_the_argument_and_draws_it(refused: Inspection) -> None:
    summary = refused.summary()
    assert re.findall(r"\b\d+\b", summary["error"]["told"])[:3] == ["0", "7", "2"]
    assert "shardings" in summary["views"]
    [drawn] = summary["meshes"]
    assert [[cell["device"] for cell in row] for row in drawn["cells"]] == [[0, 1], [2, 3]]
    assert [cell["slice"] for cell in drawn["cells"][1]] == ["[4:7, 0:3]", "[4:7, 3:6]"]
    assert [cell["filled"] for cell in drawn["cells"][1]] == [0.75, 0.75]


def test_text_and_html_draw_the_mesh(refused: Inspection) -> None:
    text, html = panel_text([refused.program]), panel_html([refused.program])
    assert "device 2: [4:7, 0:3], 75% filled" in text
    told = refused.summary()["error"]["told"]
    assert told in " ".join(re.sub("[│┌└]", " ", text).split()) and told.split(" (")[0] in html
    cells = Cells(html).found
    assert cells[: 3 * 3 : 3] == ["data", "0", "1"]
    assert cells[3 * 2 + 2] == "device 3: [4:7, 3:6], 75% filled"


def test_where_it_cannot_be_drawn_the_error_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("no device")

    monkeypatch.setattr("jaxstage_ext.program.questions.refused_shardings.read", fails)
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    with pytest.raises(ValueError, match="divi") as raised:
        inspect(jax.jit(jnp.tanh, in_shardings=NamedSharding(mesh, P("data"))), jnp.ones((7, 6)))
    summary = raised.value.inspection.summary()  # type: ignore[attr-defined]
    assert (summary["error"]["told"], summary["meshes"]) == ("", [])
    assert "7" in summary["error"]["message"]


def value(devices: int, *sizes: int) -> ShardedValue:
    return ShardedValue("x", ARGUMENT, ShardingMap(sizes, replicated(devices, len(sizes)), "f32", 32))


def test_a_large_mesh_is_drawn_in_part_and_says_so() -> None:
    drawn = sheet(value(1024, 4))
    assert (len(drawn["cells"]), len(drawn["cells"][0])) == (MOST_ROWS, MOST_COLUMNS)
    assert drawn["left_out"] == "128 of 1,024 devices are drawn"
    assert mesh_map.text(drawn)[-1] == drawn["left_out"]


@pytest.mark.parametrize("sizes", [(), (2, 3, 1, 1, 2, 2)])
def test_any_rank_on_one_device(sizes: tuple[int, ...]) -> None:
    drawn = sheet(value(1, *sizes))
    assert [[cell["filled"] for cell in row] for row in drawn["cells"]] == [[1.0]]
    assert mesh_map.text(drawn)[0].startswith(f"x f32[{','.join(map(str, sizes))}]")


def test_names_are_data() -> None:
    nasty = "</table><script>alert(1)</script>\x1b[31m"
    cell = {"device": 0, "slice": nasty, "part": 0, "filled": 1.0}
    drawn = Sheet(title=nasty, rows=nasty, columns=nasty, cells=[[cell]], left_out=nasty)  # type: ignore[list-item]
    assert "script" not in Cells(mesh_map.html(drawn)).tags
    assert "\x1b" not in "".join(mesh_map.text(drawn)) + mesh_map.html(drawn)
