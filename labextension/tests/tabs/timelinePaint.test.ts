import { expect, it } from "vitest";
import { itemsOf } from "../../src/tabs/timeline/laneItems";
import { type Ink, paintLanes } from "../../src/tabs/timeline/paintLanes";
import { TileCache } from "../../src/tabs/timeline/tiles";
import { type Drawn, lane, overview, session, tile } from "./timelineTiles";

const WIDTH = 100;
const HEIGHT = 60;
const INK: Ink = { colour: (look) => (look === 0 ? [255, 0, 0] : [0, 255, 0]), faded: () => false, background: [0, 0, 0], strength: 1 };
const RED = 0xff0000ff;

function painted(drawn: Drawn[], rows = 1, span = { from: 0, to: 100 }) {
  const about = overview([lane(0, { rows })], tile([[0, drawn]]));
  const cache = new TileCache(session().questions, 0, about);
  const pixels = new Uint32Array(WIDTH * HEIGHT);
  const view = { cache, items: itemsOf(about.lanes, new Set()), span, scroll: 0 };
  const names = paintLanes({ pixels, width: WIDTH, height: HEIGHT, scale: 1 }, view, INK, 0);
  const row = (number: number) => pixels.subarray((26 + 18 * number) * WIDTH, (27 + 18 * number) * WIDTH);
  return { names, row };
}

it("a long event fills its pixels, and its name is written", () => {
  const { names, row } = painted([{ left: 10, right: 60 }]);
  expect([...row(0)].filter((pixel) => pixel === RED).length).toBe(49); // one pixel parts it from the next
  expect(row(0)[9]).toBe(0);
  expect(names).toMatchObject([{ look: 0, x: 10, width: 50 }]);
});

it("what shares a bin is as strong as the bin is busy", () => {
  const { row, names } = painted([{ left: 5, right: 6, busy: 128, count: 9, seconds: 0.5, look: 1 }]);
  expect((row(0)[5] as number) >>> 8).toBe(0xff0080);
  expect(row(0)[4]).toBe(0);
  expect(names).toEqual([]);
});

it("nested events stand in their own row", () => {
  const { row } = painted([{ left: 0, right: 90 }, { left: 20, right: 30, row: 1, look: 1 }], 2);
  expect(row(0)[25]).toBe(RED);
  expect(row(1)[25]).toBe(0xff00ff00);
  expect(row(1)[10]).toBe(0);
});

it("an event that reaches beyond the view is named where it can be read", () => {
  const { names } = painted([{ left: -1, right: 101, seconds: 900 }], 1, { from: 40, to: 60 });
  expect(names).toMatchObject([{ look: 0, x: 0 }]);
});
