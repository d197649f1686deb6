"""A compile that takes long, of a program that is too large for the kernel: the panel says so, and Cancel stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

GROWING = """
%config JAXStage.large_program = 1000
def growing(scales, x):
    for scale in scales:
        x = jnp.sin(x * scale) + jnp.cos(x)
    return jnp.mean(x**2)
"""
COMPILED = """
%%compile
jax.grad(growing)([jnp.ones(64)] * 190, jnp.ones((8, 64)))
"""


def test_a_large_program_is_stopped_in_its_worker_and_the_kernel_lives(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, GROWING, COMPILED])
    notebook.command("notebook:run-all-cells", wait=False)
    panel = notebook.panel()
    offer = panel.root.locator(".jxs-long-compile")
    offer.wait_for()
    text = offer.inner_text()
    assert "A worker compiles it, because its " in text
    assert "more than the 1,000 of %config JAXStage.large_program" in text
    assert "--timeout stops it after 600 s" in text
    notebook.screenshot("long-compile")
    offer.get_by_role("button", name="Cancel").click()
    panel.stage("compile", "interrupted").wait_for()
    told = panel.root.locator(".jxs-failure").inner_text()
    assert told.startswith("compile interrupted") and "the compile worker for cpu was stopped" in told
    assert "log" not in told.splitlines()[2], "what the worker printed is no reason for a cancel"
    assert not offer.count()
    notebook.wait_idle()
    panel.row("stablehlo", "stablehlo.sine").first.wait_for()
