"""Texts that look like markup or code, in every field: the offline page and the static form show text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.payloads import AT_ONCE, EACH_AND_AT_ONCE, FAULTS, JOINED, Texts, free, replaced

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

KEPT = ("views", "encoding")
"""Names of strings that a page is driven by: with another text there it has no tabs, or no documents."""


@pytest.fixture(scope="module")
def report() -> tuple[dict[str, Any], list[Any]]:
    """A saved inspection of two targets and a failed run, and where in it any text may stand."""
    import jax
    import jax.numpy as jnp

    import jaxstage_ext

    def loss(weights: Any, x: Any) -> Any:
        with jax.named_scope("head"):
            return jnp.sum(jnp.tanh(x @ weights["w"]) ** 2)

    x = jnp.ones((2, 4))
    made = jaxstage_ext.inspect(loss, {"w": jnp.ones((4, 8))}, x, target=["local", "cpu:2"])
    plain = json.loads(made.to_json())
    plain["summary"]["notes"] = ["a note"]
    plain["summary"]["error"] = {
        "stage": "run", "type": "Error", "message": "it failed", "interrupted": False,
        "file": "file.py", "label": "file.py", "line": 1,
    }  # fmt: skip
    places = [place for place in free(plain, opens) if not set(KEPT) & set(place)]
    return plain, places


def opens(report: Any) -> bool:
    import jaxstage_ext

    try:
        jaxstage_ext.Inspection.from_json(json.dumps(report))
    except ValueError:
        return False
    return True


def with_lines(report: dict[str, Any], text: str) -> dict[str, Any]:
    """The report with this text in the middle of every document."""
    import jaxstage_ext
    from jaxstage_ext.report.saved.packed_columns import compressed

    opened = jaxstage_ext.Inspection.from_json(json.dumps(report))
    for kind, document in report["documents"].items():
        lines = opened.documents[kind].text.split("\n")
        lines[len(lines) // 2] = text.replace("\n", " ")
        document["text"]["data"] = compressed("\n".join(lines).encode("utf-8", "surrogatepass"))
    return report


def watched(browser: Browser, trouble: list[str]) -> Page:
    """A page whose requests, errors and dialogs are trouble."""
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "blob:")) else trouble.append(request.url)
    )
    page.on("pageerror", lambda error: trouble.append(f"{error.message}\n{error.stack}"))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (trouble.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    return page


def walk(page: Page) -> None:
    """Open every tab and pane, and point at a row of each."""
    panel = page.locator(".jaxstage").first
    panel.wait_for()
    for tab in panel.locator('[role="tab"]').all():
        tab.click()
    panel.locator('[role="tab"][data-view="code"]').click()
    for toggle in panel.locator('[role="group"][aria-label="panes"] [data-toggle][aria-pressed="false"]').all():
        toggle.click()
    for pane in panel.locator("[data-doc]").all():
        pane.locator("[data-row]").first.wait_for()
        pane.locator("[data-row]").last.hover(position={"x": 5, "y": 5})


@EACH_AND_AT_ONCE
def test_in_every_field_of_a_saved_report_they_stay_text(
    browser: Browser, report: tuple[dict[str, Any], list[Any]], tmp_path: Path, texts: Texts
) -> None:
    import jaxstage_ext
    from jaxstage_ext.views.static_html import panel_html

    plain, places = report
    assert len(places) > 150
    trouble: list[str] = []
    page = watched(browser, trouble)
    for name, text in texts.items():
        made = jaxstage_ext.Inspection.from_json(json.dumps(with_lines(replaced(plain, places, text), text)))
        made.to_html(file := tmp_path / "page.html")
        page.goto(file.as_uri())
        walk(page)
        assert page.evaluate(FAULTS) == [], name
        if text.isascii() and text.isprintable() and len(text) < 200:
            assert text in page.locator(".jxs-signature").first.inner_text(), name
        file.write_text(f"<!doctype html><meta charset=utf-8>{panel_html([made.program])}", errors="replace")
        page.goto(file.as_uri())
        assert page.evaluate(FAULTS) == [], f"{name}, static form"
        assert trouble == [], name
    page.close()


@pytest.mark.parametrize(
    "around", ["{}", '<p title="{}">', "<p title='{}'>", "<style>{}</style>", "<textarea>{}</textarea>"]
)
def test_what_takes_them_for_markup_is_a_fault(browser: Browser, around: str) -> None:
    """All markup at once does no less than each alone, wherever a page would forget to escape."""
    page = browser.new_page()
    page.set_content("<div class=jaxstage></div>")
    page.locator(".jaxstage").evaluate("(panel, html) => { panel.innerHTML = html; }", around.format(AT_ONCE["markup"]))
    made = [fault for fault in page.evaluate(FAULTS) if fault.startswith("made: ")]
    page.close()
    assert len(made) >= len(JOINED["markup"]) - 2, "in an element, some end of its text comes first"
