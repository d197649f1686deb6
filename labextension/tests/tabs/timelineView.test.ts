import { describe, expect, it } from "vitest";
import { between, heightOf, itemsOf, shown, topOf } from "../../src/tabs/timeline/laneItems";
import { axisOf, written } from "../../src/tabs/timeline/timeAxis";
import { around, fitted, kept, moved, showing, zoomed } from "../../src/parts/axis";
import { mixed, rgbOf } from "../../src/tabs/timeline/palette";
import { shortNames } from "../../src/tabs/timeline/laneNames";
import { TimelineModel } from "../../src/tabs/timeline/model";
import { lane, look, overview, session, tile } from "./timelineTiles";

const LEAST = 1e-9;
const ALL = { from: 10, to: 110, least: LEAST, room: 0.01, margin: 0.05 };

describe("what is on screen", () => {
  it("zooms so that the moment under the pointer stays there", () => {
    const span = zoomed({ from: 40, to: 60 }, 0.5, 45, ALL);
    expect(span.to - span.from).toBeCloseTo(10);
    expect((45 - span.from) / (span.to - span.from)).toBeCloseTo(0.25);
  });

  it("ends where the recording ends, with a little room, and is never shorter than a nanosecond", () => {
    expect(zoomed({ from: 40, to: 60 }, 1e9, 45, ALL)).toEqual(fitted(ALL));
    expect(moved({ from: 40, to: 60 }, 1000, ALL)).toEqual({ from: 91, to: 111 });
    expect(moved({ from: 40, to: 60 }, -Infinity, ALL).from).toBeCloseTo(10);
    const least = zoomed({ from: 40, to: 60 }, 1e-30, 45, ALL);
    expect(least.to - least.from).toBeCloseTo(LEAST, 12);
    expect(kept({ from: NaN, to: NaN }, { ...ALL, from: 0, to: 0 })).toBeDefined();
  });

  it("moves to an event only where it is not on screen", () => {
    const span = { from: 40, to: 60 };
    expect(showing(span, { from: 59, to: 70 }, ALL)).toBe(span);
    expect(showing(span, { from: 79, to: 81 }, ALL)).toEqual({ from: 70, to: 90 });
    const zoom = around({ from: 50, to: 56 }, ALL);
    expect([zoom.from, zoom.to]).toEqual([48, 58].map((n) => expect.closeTo(n, 6)));
  });
});

describe("the axis", () => {
  it("has round steps in units that fit", () => {
    const { ticks, base } = axisOf({ from: 0, to: 1e-3 }, 1000);
    expect(ticks.map(({ label }) => label).slice(0, 4)).toEqual(["0 µs", "100 µs", "200 µs", "300 µs"]);
    expect(base).toBe("");
  });

  it("far from the start says once from where it counts", () => {
    const { ticks, base } = axisOf({ from: 12.345678, to: 12.345679 }, 800);
    expect(base).toBe("12.3456 s");
    expect(ticks[0]?.label).toMatch(/^\+78/);
    expect(ticks.length).toBeGreaterThan(3);
  });

  it("writes as many digits as a step needs", () => {
    expect(written(0.00125, 1e-5)).toBe("1.25 ms");
    expect(written(0, 1e-6)).toBe("0 µs");
    expect(written(1.5, 0.5)).toBe("1.5 s");
  });
});

describe("names in the margin", () => {
  it("of threads that are numbers are short and told apart in their group; others stay", () => {
    const named = (number: number, name: string, group = "CPU") => lane(number, { name, group });
    const lanes = [named(0, "tf_XLAEigen/-3991205312/4183"), named(1, "tf_XLAEigen/1195864/12"), named(2, "tf_XLAExecute/57682311"), named(3, "Stream #16 (Kernel)"), named(4, "tf_XLAEigen/770001", "host"), named(5, "python")];
    expect([...shortNames(lanes)]).toEqual([
      [0, "XLAEigen 1"],
      [1, "XLAEigen 2"],
      [2, "XLAExecute 1"],
      [4, "XLAEigen 1"],
    ]);
  });
});

describe("the first colours", () => {
  const colouring = (line: number) => {
    const shown = overview([lane(0)], tile([[0, [{ left: 0, right: 1 }]]], [look("dot", { line })]));
    const { documents, selection, questions } = session();
    return new TimelineModel(documents, selection, questions, shown).now.colouring;
  };

  it("are those of the source lines, and of the categories where no line is known", () => {
    expect(colouring(7)).toBe("line");
    expect(colouring(-1)).toBe("group");
  });
});

describe("lanes below each other", () => {
  const lanes = [lane(0, { rows: 3 }), lane(1), lane(2, { hidden: true }), lane(3, { group: "host" })];

  it("stand in their groups; hidden ones are counted", () => {
    const items = itemsOf(lanes, new Set());
    expect(items.map(({ kind }) => kind)).toEqual(["group", "lane", "lane", "hidden", "group", "lane"]);
    expect(items.map(({ count }) => count)).toEqual([3, 1, 1, 1, 1, 1]);
    expect(topOf(items, 0, 2)).toBe(22 + 36);
    expect(topOf(items, 2, 0)).toBeNull();
    expect(topOf(itemsOf(lanes, shown(lanes, 2, new Set(["g:GPU 0"]))), 2, 0)).not.toBeNull();
  });

  it("fold", () => {
    expect(itemsOf(lanes, new Set(["g:GPU 0"])).length).toBe(3);
    expect(itemsOf(lanes, new Set(["l:0"]))[1]?.rows).toBe(1);
    expect(itemsOf(lanes, new Set(["h:GPU 0"])).map(({ lane: one }) => one?.lane)).toEqual([undefined, 0, 1, undefined, 2, undefined, 3]);
  });

  it("of thousands only those on screen are drawn", () => {
    const items = itemsOf(Array.from({ length: 5000 }, (_, i) => lane(i)), new Set());
    const [first, end] = between(items, 50_000, 50_400);
    expect(end - first).toBeLessThan(25);
    expect((items[first]?.top ?? 0) + (items[first]?.height ?? 0)).toBeGreaterThan(50_000);
    expect(heightOf(items)).toBe(22 + 5000 * 21);
  });
});

it("colours are read as browsers write them, and mixed with the background", () => {
  expect(rgbOf("rgb(1, 2, 3)")).toEqual([1, 2, 3]);
  expect(rgbOf("color(srgb 1 0.5 0)")).toEqual([255, 128, 0]);
  expect(mixed([255, 0, 0], [0, 0, 255], 0.5) >>> 0).toBe(0xff800080);
});
