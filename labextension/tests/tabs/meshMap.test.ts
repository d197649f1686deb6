import { describe, expect, it } from "vitest";
import { percent } from "../../src/wire/figures";
import { type Layout, bands, bounds, charts, colourOf, digits, filled, flat, processesAt, processesOf, readLayout, readPlaces, spelled, spots, describeSpot, transposed } from "../../src/tabs/shardings/meshMap";
import { MAP, PLACES } from "./shardingReplies";

const layout = await readLayout(MAP);
const places = readPlaces(PLACES);
const chart = (name: string, of: Layout = layout) => {
  const found = charts(of, places).find((one) => one.name === name);
  if (!found) throw new Error(`no chart ${name}`);
  return found;
};
const devices = (name: string, rows: number, columns: number, fixed: number[] = [], of = layout) =>
  spots(chart(name, of), of, rows, columns, fixed).map((line) => line.map((spot) => spot.devices.join("+")));
const some = (more: Partial<Layout>): Layout => ({ ...layout, ...more });

describe("a value on its devices", () => {
  it("is cut into slices, the last one short", () => {
    expect([0, 1, 2, 3].map((part) => spelled(layout, part))).toEqual(["[0:2, 0:2]", "[2:4, 0:2]", "[4:6, 0:2]", "[6:7, 0:2]"]);
    expect([0, 3].map((part) => filled(layout, part))).toEqual([1, 0.5]);
  });

  it("of five elements on four devices leaves the last one none", () => {
    const five = some({ shape: [5], shard: [2], tiles: [4] });
    expect(bounds(five, 3)).toEqual([[5, 5]]);
    expect(spelled(five, 3)).toBe("nothing");
    expect(filled(five, 3)).toBe(0);
  });

  it("of rank 0 is whole everywhere", () => {
    const scalar = some({ shape: [], shard: [], tiles: [] });
    expect(spelled(scalar, 0)).toBe("[]");
    expect(filled(scalar, 0)).toBe(1);
    expect(devices("mesh", 0, 1, [], scalar)).toEqual([["0", "1"], ["2", "3"], ["4", "5"], ["6", "7"]]);
  });

  it("of rank 6 has a place for each of its parts", () => {
    const six = some({ shape: [2, 2, 2, 3, 3, 3], shard: [1, 1, 1, 3, 3, 3], tiles: [2, 2, 2, 1, 1, 1] });
    expect(devices("array", 0, 1, [0, 0, 1], six)).toEqual([["1", "3"], ["5", "7"]]);
    expect(spelled(six, 5)).toBe("[1:2, 0:1, 1:2, 0:3, 0:3, 0:3]");
  });
});

describe("its charts", () => {
  it("are the mesh, the torus with the hosts' places, and the array", () => {
    expect(charts(layout, places).map(({ name }) => name)).toEqual(["mesh", "torus", "array"]);
    expect(devices("mesh", 0, 1)).toEqual([["0", "1"], ["2", "3"], ["4", "5"], ["6", "7"]]);
    expect(chart("torus").axes.map(({ name, size }) => `${name}=${size}`)).toEqual(["x=2", "y=2", "z=2"]);
    expect(devices("torus", 0, 1, [0, 0, 1])).toEqual([["4", "6"], ["5", "7"]]);
    expect(devices("array", -1, 0)).toEqual([["0+1", "2+3", "4+5", "6+7"]]);
  });

  it("turn any two axes to rows and columns", () => {
    expect(devices("mesh", 1, 0)).toEqual([["0", "2", "4", "6"], ["1", "3", "5", "7"]]);
  });

  it("show the devices that a value is not on, where it is on some alone", () => {
    const half = some({ shape: [4], shard: [1], tiles: [4], mesh: [], holders: Int32Array.from([4, 5, 6, 7]) });
    expect(charts(half, places)[0]?.name).toBe("devices");
    const sheet = spots(chart("devices", half), half, 0, 1, []);
    expect(sheet.map((line) => line.map(({ part }) => part))).toEqual([[-1, -1, -1, -1], [0, 1, 2, 3]]);
    expect(describeSpot(sheet[0]?.[1] as never, half, places, percent)).toBe("device 1 at (1, 0, 0) of process 0: nothing of w");
  });

  it("say who is where and what it holds", () => {
    const sheet = spots(chart("mesh"), layout, 0, 1, []);
    expect(describeSpot(sheet[3]?.[1] as never, layout, places, percent)).toBe("device 7 at (1, 1, 1) of process 1: w[6:7, 0:2], 50% filled");
    const array = spots(chart("array"), layout, -1, 0, []);
    expect(describeSpot(array[0]?.[0] as never, layout, [], percent)).toBe("device 0, device 1: w[0:2, 0:2]");
  });

  it("are named by process where each row, or each column, is of one", () => {
    const rows = spots(chart("mesh"), layout, 0, 1, []);
    expect(bands(rows, places)).toEqual([{ process: 0, from: 0, size: 2 }, { process: 1, from: 2, size: 2 }]);
    expect(bands(transposed(rows), places)).toEqual([]);
    const turned = spots(chart("mesh"), layout, 1, 0, []);
    expect(bands(turned, places)).toEqual([]);
    expect(bands(transposed(turned), places).map(({ size }) => size)).toEqual([2, 2]);
    const inTurn = places.map((place) => ({ ...place, host: place.id % 2 }));
    expect([bands(rows, inTurn), bands(transposed(rows), inTurn).length]).toEqual([[], 2]);
    const mixed = places.map((place) => ({ ...place, host: [0, 1, 1, 0][place.id % 4] ?? 0 }));
    expect([bands(rows, mixed), bands(transposed(rows), mixed)]).toEqual([[], []]);
    expect(bands(rows, places.map((place) => ({ ...place, host: 0 })))).toEqual([]);
    expect(bands(rows, [])).toEqual([]);
    const array = spots(chart("array"), some({ holders: Int32Array.from([0, 4, 1, 5, 2, 6, 3, 7]) }), -1, 0, []);
    expect(processesAt(array[0]?.[0] as never, places)).toEqual([0]);
    expect(processesAt({ devices: [4, 0, 5], part: 0, share: 1 }, places)).toEqual([0, 1]);
  });

  it("are said to be of processes where they are of several, or of another than the first", () => {
    expect(processesOf(places)).toBe("of 2 processes");
    expect(processesOf(places.slice(4))).toBe("of process 1");
    expect(processesOf(places.slice(0, 4))).toBe("");
    expect(processesOf([{ id: 0, host: null, coords: null, core: null }])).toBe("");
  });

  it("of a thousand devices have a place for each", () => {
    const holders = Int32Array.from({ length: 1024 }, (_, i) => i);
    const large = some({ shape: [1024], shard: [1], tiles: [1024], mesh: [{ name: "x", size: 8 }, { name: "y", size: 128 }], holders, order: holders });
    const sheet = spots(chart("mesh", large), large, 0, 1, []);
    expect([sheet.length, sheet[0]?.length, sheet[7]?.[127]?.part]).toEqual([8, 128, 1023]);
  });
});

describe("a part's colour", () => {
  const hues = (tiles: number[]) => Array.from({ length: tiles.reduce((a, b) => a * b, 1) }, (_, part) => colourOf(some({ tiles }), part));

  it("is its own where they are few", () => {
    expect(new Set(hues([4, 4]).map(({ hue }) => hue)).size).toBe(16);
  });

  it("runs along the first two dimensions that are cut where they are many", () => {
    const many = hues([32, 1, 32]);
    expect(new Set(many.slice(0, 32).map(({ hue }) => hue))).toEqual(new Set([0]));
    expect(many[1023]).toEqual({ hue: 300, saturation: 95 });
    expect(many[31]).toEqual({ hue: 0, saturation: 95 });
  });
});

describe("what the kernel sends", () => {
  it("names every axis of the mesh in full", async () => {
    expect((await readLayout(MAP)).mesh.map(({ name }) => name)).toEqual(["data", "model"]);
  });

  it("is not believed where it contradicts itself", async () => {
    const torn = await readLayout({ ...MAP, result: { ...MAP.result, tiles: [3, 1] } });
    expect(torn.problem).toContain("does not say which device holds what");
    const noMesh = await readLayout({ ...MAP, result: { ...MAP.result, mesh: { names: ["a"], sizes: [5] } } });
    expect(noMesh.mesh).toEqual([]);
    expect((await readLayout({ result: {}, buffers: [] })).problem).not.toBe("");
    expect(readPlaces("no list")).toEqual([]);
  });

  it("numbers are taken apart and put together", () => {
    expect(digits(23, [2, 3, 4])).toEqual([1, 2, 3]);
    expect(flat([1, 2, 3], [2, 3, 4].map((size) => ({ name: "", size })))).toBe(23);
  });
});
