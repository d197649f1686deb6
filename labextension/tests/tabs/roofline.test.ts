import { expect, test } from "vitest";
import { apart, axesOf, beyond, ceilings, decades, placeAt, pointAt, radius, readRoofline, toX, toY } from "../../src/tabs/cost/roofline";
import { ROOFLINE } from "./costReplies";

const read = () => readRoofline(ROOFLINE);

test("a roofline is read with its peaks in order; dtypes of one peak share a line", async () => {
  const roof = await read();
  expect(roof.peaks).toEqual([["f32", 100], ["f16", 1000], ["bf16", 1000]]);
  expect(ceilings(roof)).toEqual([{ names: "f32", peak: 100 }, { names: "f16, bf16", peak: 1000 }]);
  expect([0, 1].map((i) => [roof.names[i], roof.bound(i), roof.unit(i), roof.line(i)])).toEqual([
    ["dot.1", "compute", "f32", "In [5]:2"],
    ["add.1", "memory", "f32", ""],
  ]);
});

test("all points, peaks and ridges are on the chart; a decade is as long everywhere", async () => {
  const roof = await read();
  const axes = axesOf(roof, 800, 400);
  for (const value of [25, 0.25, 10, 100]) expect(toX(axes, value)).toBeGreaterThan(axes.left);
  for (const value of [25, 0.25, 10, 100]) expect(toX(axes, value)).toBeLessThan(axes.right);
  for (const value of [100, 2.5, 1000]) expect(toY(axes, value)).toBeGreaterThan(axes.top);
  for (const value of [100, 2.5, 1000]) expect(toY(axes, value)).toBeLessThan(axes.bottom);
  expect(toX(axes, 10) - toX(axes, 1)).toBeCloseTo(toX(axes, 100) - toX(axes, 10));
  expect(toY(axes, 100)).toBeLessThan(toY(axes, 10));
});

test("what moves next to nothing stands at the edge, is counted there and still found", async () => {
  const roof = await read();
  const far = { ...roof, length: 4, names: ["dot.1", "add.1", "tiny", "small"] };
  far.intensity = Float64Array.of(25, 0.25, 1e-9, 1e9);
  far.attainable = Float64Array.of(100, 2.5, 1e-8, 100);
  far.bytes = Float64Array.of(1000, 1000, 1, 2);
  far.achieved = Float64Array.of(Number.NaN, Number.NaN, Number.NaN, Number.NaN);
  const axes = axesOf(far, 800, 400);
  expect(axes.x).toEqual(axesOf(roof, 800, 400).x);
  expect(beyond(far, axes)).toEqual({ left: 1, right: 1, below: 0 });
  expect(beyond(roof, axes)).toEqual({ left: 0, right: 0, below: 0 });
  expect(placeAt(axes, 1e-9, 1e-8)).toEqual([axes.left, axes.bottom]);
  expect(pointAt(far, axes, axes.left, axes.bottom)).toBe(2);
  far.bytes = Float64Array.of(1000, 1000, 100, 2);
  expect(beyond({ ...far }, axesOf({ ...far }, 800, 400))).toEqual({ left: 0, right: 1, below: 0 });
});

test("labels are moved apart, downwards where there is room", () => {
  expect(apart([100, 60, 20], 14, 200)).toEqual([100, 60, 20]);
  expect(apart([50, 45, 40], 14, 200)).toEqual([68, 54, 40]);
  expect(apart([95, 94, 93], 14, 100)).toEqual([100, 86, 72]);
  expect(apart([], 14, 100)).toEqual([]);
});

test("the pointer finds a point near it, the smaller one where two lie over each other", async () => {
  const roof = await read();
  const axes = axesOf(roof, 800, 400);
  const [x, y] = [toX(axes, 25), toY(axes, 100)];
  expect(pointAt(roof, axes, x, y)).toBe(0);
  expect(pointAt(roof, axes, x + 11, y)).toBe(0);
  expect(pointAt(roof, axes, x + 40, y)).toBe(-1);
  roof.intensity[1] = 25;
  roof.attainable[1] = 100;
  expect(pointAt(roof, axes, x, y)).toBe(1);
});

test("the area of a point grows with its bytes", () => {
  expect([0, 25, 100].map((bytes) => radius(bytes, 100))).toEqual([3, 9.5, 16]);
  expect(radius(0, 0)).toBe(3);
});

test("decades are powers of ten, fewer of them where there is little room", () => {
  expect(decades({ from: -1.3, to: 2.2 }, 10)).toEqual([0.1, 1, 10, 100]);
  expect(decades({ from: -1.3, to: 2.2 }, 2)).toEqual([1, 100]);
});

test("what the kernel sends is read with care", async () => {
  const roof = await readRoofline({ result: { peaks: { f32: -1, bf16: "fast", f16: 3 }, bandwidth: 0, columns: 7 }, buffers: [] });
  expect(roof.peaks).toEqual([["f16", 3]]);
  expect(roof.bandwidth).toBeNull();
  expect(roof.caches).toBeNull();
  expect([roof.length, roof.bound(0)]).toEqual([0, ""]);
  const axes = axesOf(roof, 10, 10);
  expect(pointAt(roof, axes, 5, 5)).toBe(-1);
});

test("the caches have a slope of their own where they are faster than the memory", async () => {
  const read = async (caches: number) => (await readRoofline({ result: { peaks: {}, bandwidth: 10, caches, length: 0, columns: [] }, buffers: [] })).caches;
  expect(await read(50)).toBe(50);
  expect(await read(10)).toBeNull();
});
