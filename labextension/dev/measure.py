"""Paint, scroll and search times of a 500,000-line document in headless Chromium: npm run build:dev, then this."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

LIB = Path(__file__).resolve().parent.parent / "lib"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="paged.css"><div id="panel"></div>
<script src="paged.js"></script>"""
SCROLL = """async (jump) => {
  const list = document.querySelector('.jxs-code');
  const tasks = [], frames = [];
  new PerformanceObserver(l => tasks.push(...l.getEntries().map(e => e.duration))).observe({entryTypes: ['longtask']});
  let last = performance.now();
  for (let i = 0; i < 240; i++) {
    list.scrollTop = jump ? Math.random() * list.scrollHeight : list.scrollTop + 57;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  await new Promise(r => setTimeout(r, 300));
  frames.sort((a, b) => a - b);
  return {p50: frames[120], p95: frames[228], max: frames[239], longest: Math.max(0, ...tasks), long: tasks.length};
}"""
CLICK = """async () => {
  const times = [];
  for (const row of [...document.querySelectorAll('.jxs-row')].slice(5, 15)) {
    const start = performance.now();
    row.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    const hovered = performance.now();
    row.click();
    times.push([hovered - start, performance.now() - hovered]);
    await new Promise(requestAnimationFrame);
  }
  return [0, 1].map(i => Math.max(...times.map(t => t[i])));
}"""
SEARCH = """async (query) => {
  const input = document.querySelector('.jxs-search input');
  const hits = document.querySelector('.jxs-hits');
  const type = text => { input.value = text; input.dispatchEvent(new Event('input', {bubbles: true})); };
  type('');
  while (hits.textContent) await new Promise(r => setTimeout(r, 1));
  const start = performance.now();
  type(query);
  while (!/\\d|no hits/.test(hits.textContent)) await new Promise(r => setTimeout(r, 1));
  return [performance.now() - start, hits.textContent];
}"""


def measure(page, mode: str, rows: int) -> None:
    page.goto(f"{(LIB / 'paged.html').as_uri()}?mode={mode}&rows={rows}")
    page.wait_for_function("() => window.painted", timeout=60_000)
    page.wait_for_selector('.jxs-pane[data-ready="true"]')
    print(f"{mode}, {rows:,} lines: painted {page.evaluate('window.painted'):.0f} ms after being asked for")
    for name, jump in (("scroll", False), ("jump", True)):
        print(f"  {name}", {k: round(v, 1) for k, v in page.evaluate(SCROLL, jump).items()})
    hover, click = page.evaluate(CLICK)
    print(f"  hover {hover:.1f} ms, click {click:.1f} ms (longest of ten)")
    page.wait_for_timeout(500)
    page.locator(".jxs-code").press("/")
    for query in ("warm up", "multiply.499", "LAYER_31/", "nowhere"):
        took, hits = page.evaluate(SEARCH, query)
        print(f"  search {query!r}: {took:.0f} ms, {hits}")


def main() -> None:
    (LIB / "paged.html").write_text(PAGE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"],
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("pageerror", lambda error: print("page error:", error, file=sys.stderr))
        measure(page, "paged", 500_000)
        measure(page, "full", 140_000)


if __name__ == "__main__":
    main()
