import { expect, it } from "vitest";
import { type Span, moved, roundStep, shareOf, showing, ticks, valueAt, zoomed } from "../../src/parts/axis";

/** A schedule: whole positions, nothing beyond its ends. */
const ALL = { from: 0, to: 1000, least: 4, room: 0, margin: 0 };

const rounded = (span: Span, most: number) => ticks(span, roundStep((span.to - span.from) / most));

it("ticks have round values, as many as there is room for", () => {
  expect(rounded({ from: 0, to: 33.6e6 }, 4)).toEqual([0, 10e6, 20e6, 30e6]);
  expect(rounded({ from: 3, to: 61 }, 5)).toEqual([20, 40, 60]);
  expect(rounded({ from: 0, to: 3 }, 10).filter(Number.isInteger)).toEqual([0, 1, 2, 3]);
  expect(rounded({ from: 5, to: 5 }, 3)).toEqual([]);
  expect([0.1, 0.11, 0.21, 0.51, 1000, 1001].map(roundStep)).toEqual([0.1, 0.2, 0.5, 1, 1000, 2000].map((step) => expect.closeTo(step, 9)));
});

it("a value and its share of the span are each other's way back", () => {
  expect([shareOf({ from: 10, to: 30 }, 15), valueAt({ from: 10, to: 30 }, 0.25)]).toEqual([0.25, 15]);
});

it("zooms around a value, within all there is, and never nearer than the least", () => {
  const whole = { from: 0, to: 1000 };
  expect(zoomed(whole, 0.5, 0, ALL)).toEqual({ from: 0, to: 500 });
  expect(zoomed(whole, 0.5, 1000, ALL)).toEqual({ from: 500, to: 1000 });
  expect(zoomed({ from: 100, to: 200 }, 0.5, 100, ALL)).toEqual({ from: 100, to: 150 });
  expect([100, Infinity].map((factor) => zoomed(whole, factor, 300, ALL))).toEqual([whole, whole]);
  expect(zoomed({ from: 100, to: 200 }, 1e-9, 150, ALL)).toEqual({ from: 148, to: 152 });
});

it("moves along, and after what is to be seen", () => {
  const span = { from: 100, to: 200 };
  expect([50, -500, 5000].map((by) => moved(span, by, ALL).from)).toEqual([150, 0, 900]);
  const shown = (at: number) => showing(span, { from: at, to: at }, ALL);
  expect([shown(100), shown(199)].every((one) => one === span)).toBe(true);
  expect([shown(200), shown(999), shown(99)]).toEqual([{ from: 150, to: 250 }, { from: 900, to: 1000 }, { from: 49, to: 149 }]);
});
