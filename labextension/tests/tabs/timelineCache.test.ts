import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { TimelineModel } from "../../src/tabs/timeline/model";
import { readOverview, readTile } from "../../src/tabs/timeline/read";
import { TileCache } from "../../src/tabs/timeline/tiles";
import { Refusal } from "../../src/wire/errors";
import type { Params, Reply } from "../../src/wire/source";
import { FakeKernel, soon } from "../kernel";
import { lane, overview, segments, session, tile } from "./timelineTiles";

const NAMES = ["row", "left", "right", "event", "look", "busy", "count", "seconds"] as const;
const packed = (column: ArrayLike<number> & ArrayBufferView): ArrayBuffer => {
  const bytes = gzipSync(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
};
const TYPE = { Uint8Array: "u1", Int32Array: "i4", Float32Array: "f4" } as Record<string, string>;

function reply(counts: number[], drawn = segments([{ left: 0, right: 10 }, { left: 20, right: 30, look: 1 }])): Reply {
  const columns = NAMES.map((name) => ({ name, dtype: TYPE[drawn[name].constructor.name] }));
  const looks = [{ look: 0, name: "<script>alert(1)</script>" }, { look: 1, name: "x".repeat(20_000), row: 4, line: "no number" }];
  return { result: { columns, counts, looks }, buffers: NAMES.map((name) => packed(drawn[name])) };
}

const about = () => overview([lane(0), lane(1)], tile([[0, [{ left: 0, right: 50 }]]]));

it("reads a tile by lane, and takes names as text of a bounded length", async () => {
  const { lanes, looks } = await readTile(reply([1, 1]), [7, 3]);
  expect([...lanes].map(([number, { length, left }]) => [number, length, left[0]])).toEqual([[7, 1, 0], [3, 1, 20]]);
  expect(looks.get(0)?.name).toBe("<script>alert(1)</script>");
  expect(looks.get(1)).toMatchObject({ row: 4, line: -1 });
  expect(looks.get(1)?.name.length).toBe(10_000);
});

it("damaged replies are nothing, or less, and never an error", async () => {
  const short = await readTile(reply([5, 5]), [0, 1]);
  expect([...short.lanes.values()].map(({ length }) => length)).toEqual([2, 0]);
  expect((await readTile({ result: { columns: "x", counts: null }, buffers: [] }, [0])).lanes.get(0)?.length).toBe(0);
  const empty = await readOverview({ result: { lanes: [{}, null, 3], base: "x", levels: -1 }, buffers: [] });
  expect(empty).toMatchObject({ base: 0, end: 0, levels: 1, events: 0 });
  expect(empty.lanes.length).toBe(3);
});

it("the coarse picture stands in for tiles that have not come; each is asked for once", async () => {
  const kernel = new FakeKernel();
  const asked: Params[] = [];
  kernel.answers["timeline tile"] = (params) => (asked.push(params), reply([1, 1]));
  const cache = new TileCache(session(kernel).questions, 0, about());
  expect(cache.part(3, 2, 0)).toBe(cache.part(0, 0, 0));
  expect(cache.part(3, 2, 1)).toBeNull();
  cache.want(3, [2, 2], [0, 1]);
  cache.want(3, [2, 2], [0, 1]);
  await soon(() => expect(cache.isWaiting).toBe(false));
  expect(asked).toEqual([{ call: 0, level: 3, tile: 2, lanes: "0 1" }]);
  expect(cache.part(3, 2, 0)).toMatchObject({ start: 25, bin: 0.125, length: 1 });
  cache.want(3, [2, 2], [0, 1]);
  expect(asked.length).toBe(1);
});

it("what is too much is forgotten, but never the coarse picture", async () => {
  const kernel = new FakeKernel();
  kernel.answers["timeline tile"] = () => reply([1, 1]);
  const cache = new TileCache(session(kernel).questions, 0, about());
  const coarse = cache.part(0, 0, 0);
  Object.assign(cache, { size: 3_000_000 });
  cache.want(3, [2, 2], [0, 1]);
  await soon(() => expect(cache.isWaiting).toBe(false));
  expect(coarse).not.toBeNull();
  expect(cache.part(3, 2, 0)).toBe(coarse);
});

it("where nothing finer was saved, it is asked for once and the coarse picture stays", async () => {
  const kernel = new FakeKernel();
  let asked = 0;
  kernel.answers["timeline tile"] = () => {
    asked++;
    throw new Refusal("This export does not hold it.", "absent");
  };
  const cache = new TileCache(session(kernel).questions, 0, about());
  cache.want(3, [2, 2], [0]);
  await soon(() => expect(cache.isAbsent).toBe(true));
  cache.want(4, [2, 2], [0]);
  expect(asked).toBe(1);
  expect(cache.part(4, 2, 0)?.length).toBe(1);
});

it("the level has bins of a pixel at most", () => {
  const cache = new TileCache(session().questions, 0, about());
  expect(cache.levelOf({ from: 0, to: 100 }, 100)).toBe(0);
  expect(cache.levelOf({ from: 0, to: 100 }, 101)).toBe(1);
  expect(cache.levelOf({ from: 0, to: 1e-9 }, 1000)).toBe(19);
  expect(cache.tilesOf({ from: 20, to: 60 }, 2)).toEqual([0, 2]);
});

it("an event that is selected selects its instruction in all views", async () => {
  const kernel = new FakeKernel();
  kernel.answers["timeline event"] = ({ event }) => ({ result: { event, name: "dot", row: 3, start: 1, seconds: 2, partners: [{ event: 9 }] }, buffers: [] });
  const { documents, selection, questions } = session(kernel);
  const model = new TimelineModel(documents, selection, questions, about());
  await model.select(5);
  expect(model.now.detail).toMatchObject({ event: 5, seconds: 2, partners: [{ event: 9 }] });
  expect(selection.get().selected).toEqual({ doc: "hlo", row: 3, from: "timeline" });
  model.choose(40, 20);
  expect(model.now.range).toEqual({ from: 20, to: 40 });
  model.choose(-5, -1);
  expect(model.now.range).toBeNull();
});
