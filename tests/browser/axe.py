"""What axe-core finds wrong in a part of a page, by the rules of WCAG 2 at levels A and AA; no rule is switched off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator

SCRIPT = Path(__file__).parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
ALL = {"type": "tag", "values": LEVELS}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""The rules that a theme can break: all else is the same in the other theme, in which all rules are checked."""
RUN = "(part, options) => window.axe.run(part, options).then(result => result.violations)"


def violations(part: Locator, rules: dict[str, Any] = ALL) -> list[str]:
    """A line for each rule that is broken: how often, the first element, and what is wrong with it."""
    if not part.page.evaluate("() => 'axe' in window"):
        part.page.evaluate(SCRIPT.read_text())  # not as a script element, which the offline page's policy forbids
    found: list[dict[str, Any]] = part.evaluate(RUN, {"runOnly": rules, "resultTypes": ["violations"]})
    return [_described(rule["id"], rule["nodes"]) for rule in found]


def _described(rule: str, nodes: list[dict[str, Any]]) -> str:
    first = nodes[0]
    return f"{rule} ({len(nodes)}): {first['html'][:200]}: {first['failureSummary'].splitlines()[1].strip()}"
