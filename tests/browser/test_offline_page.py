"""The offline page with all tabs computed: each shows its figures, from a file, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import pytest
from playwright.sync_api import expect

from jaxstage_ext import Inspection, inspect
from tests.browser.notebook_page import pictured

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

LAYERS = 4


def block(weights: dict[str, Any], x: Any) -> Any:
    scores = (x @ weights["query"]) @ (x @ weights["key"]).T / 8
    x = x + jax.nn.softmax(scores) @ (x @ weights["value"]) @ weights["out"]
    return x + jax.nn.gelu(x @ weights["up"]) @ weights["down"]


def step(weights: list[dict[str, Any]], x: Any) -> Any:
    def loss(weights: list[dict[str, Any]]) -> Any:
        hidden = x
        for each in weights:
            hidden = block(each, hidden)
        jax.debug.print("loss {}", hidden.mean())
        return (hidden**2).mean().astype(jnp.bfloat16).astype(jnp.float32)

    return jax.tree.map(lambda weight, slope: weight - 1e-3 * slope, weights, jax.grad(loss)(weights))


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    sizes = {"query": (64, 64), "key": (64, 64), "value": (64, 64), "out": (64, 64), "up": (64, 256), "down": (256, 64)}
    weights = [{name: jnp.ones(size) for name, size in sizes.items()} for _ in range(LAYERS)]
    return inspect(step, weights, jnp.ones((32, 64)))


def test_every_tab_of_the_page_works(inspection: Inspection, tmp_path: Path, browser: Browser) -> None:
    written = inspection.to_html(tmp_path / "step.html", all=True)
    assert written.size == (tmp_path / "step.html").stat().st_size < 3_000_000
    assert repr(written).endswith(f"{written.size / 1e6:.3g} MB")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    page.goto((tmp_path / "step.html").as_uri())
    tabs = page.get_by_role("tab")
    expect(tabs.first).to_be_visible()
    names = tabs.all_inner_texts()
    assert names == [
        *("Findings", "Code", "Answers", "Cost", "Memory", "Dimensions", "Dtypes", "Layouts", "Effects"),
        *("Passes", "Machine code", "Options"),
    ]
    for name in names:
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.locator("[aria-busy='true']")).to_have_count(0)
        pictured(page, f"offline-{name.split()[0].lower()}")
        assert "not saved" not in page.inner_text("main"), name
        expect(page.locator(".jxs-problem")).to_have_count(0)
    assert problems == []
    page.close()


def test_a_page_has_no_tab_of_what_nobody_computed(tmp_path: Path, browser: Browser) -> None:
    fresh = inspect(lambda x: jnp.tanh(x).sum(), jnp.ones(8))
    written = fresh.to_html(tmp_path / "small.html")
    page = browser.new_page()
    page.goto((tmp_path / "small.html").as_uri())
    expect(page.get_by_role("tab").first).to_be_visible()
    names = page.get_by_role("tab").all_inner_texts()
    assert "Passes" not in names and "Machine code" not in names and "Cost" in names
    assert written.size < 1_000_000
    page.close()
