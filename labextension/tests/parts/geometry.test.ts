import { expect, it } from "vitest";
import { defaultPanes, openPanes, togglePane } from "../../src/parts/panes";
import { MAX_HEIGHT, offsetAt, scrollHeight, scrollTopFor, visibleRange } from "../../src/parts/geometry";
import { percent, scaled } from "../../src/wire/figures";
import { moved } from "../../src/parts/splitter";

it("shows the first and the last row, also of lists taller than a browser allows", () => {
  for (const rows of [1000, 5_000_000]) {
    const g = { rowHeight: 18, rows, viewport: 500 };
    expect(scrollHeight(g)).toBeLessThanOrEqual(MAX_HEIGHT);
    expect(visibleRange(g, 0, 2)[0]).toBe(0);
    expect(visibleRange(g, scrollHeight(g) - g.viewport, 2)[1]).toBe(rows - 1);
    const middle = (rows * 18) / 2;
    expect(offsetAt(g, scrollTopFor(g, middle))).toBeCloseTo(middle, 3);
  }
});

it("draws nothing of an empty document", () => {
  const [first, last] = visibleRange({ rowHeight: 18, rows: 0, viewport: 500 }, 0, 2);
  expect(last).toBeLessThan(first);
});

const documents = ["python", "jaxpr", "stablehlo", "hlo"].map((kind) => ({ kind, title: kind, lines: 1, bytes: 1 }));

it("opens the source and the last stage, and the jaxpr where there is room", () => {
  expect(defaultPanes(documents, 1400)).toEqual(["python", "jaxpr", "hlo"]);
  expect(defaultPanes(documents, 500)).toEqual(["python", "hlo"]);
  expect(defaultPanes(documents.slice(0, 3), 500)).toEqual(["python", "stablehlo"]);
  expect(openPanes(["hlo", "python", "gone"], documents, 500)).toEqual(["python", "hlo"]);
});

it("never closes the last pane, and never squeezes one away", () => {
  expect(togglePane(["hlo"], "hlo")).toEqual(["hlo"]);
  expect(togglePane(["hlo", "python"], "hlo")).toEqual(["python"]);
  const [a, b] = moved(1, 1, 5);
  expect(a + b).toBe(2);
  expect(b).toBeGreaterThan(0.2);
});

it("writes times and shares without lying", () => {
  expect([0.0000004, 0.0034, 0.081, 1.234, 250].map((s) => scaled(s, "s"))).toEqual(["400 ns", "3.4 ms", "81 ms", "1.23 s", "250 s"]);
  expect(percent(9999, 10_000)).toBe("99.9%");
  expect(percent(1, 10_000)).toBe("<1%");
  expect(percent(10, 10)).toBe("100%");
  expect(percent(1, 3)).toBe("33%");
});
