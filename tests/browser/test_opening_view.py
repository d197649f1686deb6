"""Where the panes begin: at what one reads first, what comes before it folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

MANY = """%%compile
def mlp(weights, x, key):
    for weight in weights:
        x = jnp.where(jax.random.bernoulli(key, 0.9, x.shape), jnp.tanh(x @ weight), 0)
    return x.sum()
mlp([jnp.ones((16, 16))] * 12, jnp.ones((4, 16)), jax.random.key(0))"""


def test_hlo_begins_at_its_first_linked_instruction_and_a_jaxpr_at_the_main_one(
    open_notebook: Opener, lab: Server
) -> None:
    notebook = open_notebook(lab, [SETUP, MANY])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("compile", "done").wait_for()
    panel.tab("code").click()  # one key for all layers is a finding, which opens
    panel.show_panes("jaxpr", "hlo")
    panel.pane("hlo").locator("[data-row] .jxs-line", has_text="ENTRY").first.wait_for()
    head, parameters, first = panel.in_view("hlo")[:3]
    assert head.startswith("ENTRY") and "parameter(0)" in parameters
    assert "13 lines" in parameters and "parameter" not in first
    rows = panel.in_view("jaxpr")
    main = next(at for at, row in enumerate(rows) if row.startswith("{ lambda"))
    assert main and all(row.startswith("let _") and "lines" in row for row in rows[:main])
    notebook.screenshot("opening")
    panel.tab("cost").click()
    rows = panel.root.locator(".jxs-grid-row[data-row]")
    rows.first.wait_for()
    assert any("jnp.tanh(x @ weight)" in row for row in rows.all_inner_texts()), (
        "the code of the line stands in its row"
    )
