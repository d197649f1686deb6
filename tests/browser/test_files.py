"""What JAX and XLA made, opened in JupyterLab: a Lowered object, and a module of a folder that XLA dumped into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

LOWERED = """%%compile
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))
lowered = jax.jit(loss).lower(w, x)
lowered"""
DUMPED = """
import os, subprocess, sys
program = '''
import jax, jax.numpy as jnp
def step(w, x):
    return jnp.tanh(x @ w).sum()
jax.jit(step).lower(jnp.ones((8, 16)), jnp.ones((4, 8))).compile()
'''
open("program.py", "w").write(program)
flags = "--xla_dump_to=dump --xla_dump_hlo_as_proto --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.* "
flags += "--xla_dump_emitter_re=llvm"
subprocess.run([sys.executable, "program.py"], env={**os.environ, "XLA_FLAGS": flags}, check=True);
"""


def test_a_lowered_object_starts_at_its_stage(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOWERED])
    notebook.run_all()
    panel = notebook.panel()
    stages = panel.root.locator(".jxs-stage")
    assert stages.evaluate_all("all => all.map(one => one.dataset.state)") == ["not given", "given", "done"]
    expect(stages.nth(0)).to_contain_text("not given")
    panel.show_panes("python", "stablehlo", "hlo")
    panel.reveal("stablehlo", "stablehlo.tanh").hover()
    panel.wait_lit("python", holding="tanh")
    notebook.screenshot("lowered-light")
    notebook.theme("Dark")
    notebook.screenshot("lowered-dark")
    notebook.theme("Light")


def test_a_module_of_a_dump_has_its_tabs(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, DUMPED, "%inspect dump", "%inspect dump jit_step"])
    notebook.run_all()
    panel = notebook.panel()
    tabs = panel.root.get_by_role("tab")
    assert [tab.split("\n")[0] for tab in tabs.all_inner_texts()][:2] == ["Findings", "Code"]
    for name in ("Memory", "Passes", "Machine code", "Cost"):
        panel.root.get_by_role("tab", name=name).click()
        expect(panel.root.locator("[aria-busy='true']")).to_have_count(0)
        notebook.screenshot(f"dump-{name.split()[0].lower()}-light")
    expect(panel.root.locator(".jxs-problem")).to_have_count(0)
