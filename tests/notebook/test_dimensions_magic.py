"""`%dimensions` as a user types it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.completer import provisionalcompleter
from magic_shell import Shell, fresh_shell

from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions

PROGRAM = """
def loss(params, x):
    return (jnp.tanh(x @ params["up"]) @ params["down"]).sum()
def step(params, x):
    return jax.tree.map(jnp.subtract, params, jax.grad(loss)(params, x))
shapes = {"up": jax.ShapeDtypeStruct((24, 48), "float32"), "down": jax.ShapeDtypeStruct((48, 24), "float32")}
batch = jax.ShapeDtypeStruct((40, 24), "float32")
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        made.run(PROGRAM)
        yield made


def test_it_shows_the_dimensions_and_what_splitting_each_costs(shell: Shell) -> None:
    seen = shell.run("found = %dimensions step(shapes, batch) -t cpu:8")
    found: Dimensions = shell["found"]
    assert seen.ok and not seen.panels
    assert {one.name: one.size for one in found} == {"up": 48, "up_in": 24, "down": 24, "batch": 40}
    rows = {row["dimension"]: row for row in found.table}
    # An all-reduce of f32[24,48] and one of f32[48,24] add the gradients: 2 x 7/8 of 9,216 bytes.
    assert rows["batch"]["collectives"] == "2 all-reduce" and rows["batch"]["sent"] == 9216 * 7 / 8 * 2
    assert rows["batch"]["split over"] == 8 and rows["batch"]["devices"] == "2, 4, 5, 8, 10, … 40"
    assert "batch, up_in" in str(found) and "batch" in found._repr_html_()
    assert shell.run("%dimensions step(shapes, batch) -t cpu:8").ok


def test_the_authors_names(shell: Shell) -> None:
    number = shell["found"]["up"].number
    seen = shell.run(f"named = %dimensions step(shapes, batch) --name {number}=hidden --name batch=rows")
    assert seen.ok and {one.name for one in shell["named"]} == {"hidden", "up_in", "down", "rows"}
    for wrong, quoted in (("hiden=x", "hiden"), ("batch=up", "up"), ("batch", "batch"), ("batch=1x", "1x")):
        refused = shell.run(f"%dimensions step(shapes, batch) --name {wrong}")
        assert "UsageError" in refused.text and quoted in refused.text


def test_what_cannot_be_asked(shell: Shell) -> None:
    for line in ("", "step", "3", "step(shapes, batch) --run"):
        assert "UsageError" in shell.run(f"%dimensions {line}").text
    # 24 elements do not split over 16 devices: unknown, with the reason, and the rest of the table is there.
    shell.run("odd = %dimensions step(shapes, batch) -t cpu:16")
    table = shell["odd"].table
    row = next(at for at, one in enumerate(table) if one["dimension"] == "up_in")
    assert table["sent"][row] != table["sent"][row] and "16" in table.reasons[row, "sent"]
    assert next(one for one in table if one["dimension"] == "up")["sent"] is not None


def test_help_and_completion(shell: Shell) -> None:
    with provisionalcompleter():
        assert "--name" in shell.ip.complete("", "%dimensions --n", 15)[1]
    assert "--name" in (shell.ip.magics_manager.magics["line"]["dimensions"].__doc__ or "")
