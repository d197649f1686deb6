import { expect, test } from "vitest";
import { axesOf, ceilings, decades, pointAt, radius, readRoofline, toX, toY } from "../../src/tabs/cost/roofline";
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
  expect(decades([-1.3, 2.2], 10)).toEqual([0.1, 1, 10, 100]);
  expect(decades([-1.3, 2.2], 2)).toEqual([1, 100]);
});

test("what the kernel sends is read with care", async () => {
  const roof = await readRoofline({ result: { peaks: { f32: -1, bf16: "fast", f16: 3 }, bandwidth: 0, length: 1, columns: 7 }, buffers: [] });
  expect(roof.peaks).toEqual([["f16", 3]]);
  expect(roof.bandwidth).toBeNull();
  expect([roof.bound(0), roof.intensity[0]]).toEqual(["", Number.NaN]);
  const axes = axesOf(roof, 10, 10);
  expect(pointAt(roof, axes, 5, 5)).toBe(-1);
});
