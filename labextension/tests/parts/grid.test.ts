import { expect, test } from "vitest";
import { scaled } from "../../src/wire/figures";
import type { Grid, NumberField } from "../../src/wire/tables";
import { written } from "../../src/wire/figures";
import { cellText, largest, matching, sorted } from "../../src/parts/grid/sort";

const numbers = (name: string, values: number[], unit = "B"): NumberField => ({ kind: "number", name, title: name, hint: "", unit, values });
const texts = (name: string, all: string[]) => {
  const strings = [...new Set(all)];
  return { kind: "text" as const, name, title: name, hint: "", strings, codes: Int32Array.from(all, (t) => strings.indexOf(t)), missing: "unknown" };
};
const grid: Grid = {
  length: 4,
  fields: [texts("name", ["b", "a", "", "Dot.1"]), texts("line", ["x:1", "x:2", "x:1", "<b>"]), numbers("bytes", [5, Number.NaN, 20, 5])],
};
const all = Uint32Array.from([0, 1, 2, 3]);
const order = (field: string, down: boolean) => [...sorted(grid, all, { field, down })];

test("what is not known comes last, whichever way; equal rows stay as they were", () => {
  expect(order("bytes", true)).toEqual([2, 0, 3, 1]);
  expect(order("bytes", false)).toEqual([0, 3, 2, 1]);
  expect(order("name", false)).toEqual([2, 3, 1, 0]);
  expect(order("nothing", true)).toEqual([0, 1, 2, 3]);
  expect([...sorted(grid, Uint32Array.from([3, 1]), { field: "bytes", down: true })]).toEqual([3, 1]);
});

test("a filter wants all of its words, in any of the texts", () => {
  expect([...matching(grid, "")]).toEqual([0, 1, 2, 3]);
  expect([...matching(grid, "x:1 b")]).toEqual([0]);
  expect([...matching(grid, "DOT")]).toEqual([3]);
  expect([...matching(grid, "unknown")]).toEqual([2]);
  expect([...matching(grid, "absent")]).toEqual([]);
});

test("a quarter of a million rows are sorted and filtered at once", () => {
  const n = 250_000;
  const big: Grid = {
    length: n,
    fields: [texts("op", ["add", "dot"]), numbers("bytes", [...Array(n).keys()])],
  };
  (big.fields[0] as { codes: Int32Array }).codes = Int32Array.from({ length: n }, (_, i) => i % 2);
  const found = sorted(big, matching(big, "dot"), { field: "bytes", down: true });
  expect([found.length, found[0], found.at(-1)]).toEqual([n / 2, n - 1, 1]);
});

test("numbers as they are shown; the unknown is never nothing", () => {
  expect([0, 34, 999.9, 1100, 2.5e9, 1e16].map((n) => scaled(n, "B"))).toEqual(["0 B", "34 B", "1 kB", "1.1 kB", "2.5 GB", "10 PB"]);
  expect([3.2e-6, 0.0125, 1.5e-9, 0].map((n) => scaled(n, "s"))).toEqual(["3.2 µs", "12.5 ms", "1.5 ns", "0 s"]);
  expect([written(null, "B"), written(Number.NaN, ""), written(1234567, ""), written(0.123456789, "")]).toEqual(["unknown", "unknown", "1,234,567", "0.123"]);
  const field = { ...numbers("flops", [1e6, 2e6, Number.NaN], "FLOP"), isLeast: (row: number) => row > 0 };
  expect([0, 1, 2].map((row) => cellText(field, row))).toEqual(["1 MFLOP", "≥ 2 MFLOP", "unknown"]);
  expect(cellText(grid.fields[0] as never, 2)).toBe("unknown");
  expect(largest(numbers("n", [1, Number.NaN, 7, Number.POSITIVE_INFINITY]))).toBe(7);
});
