import { expect, test } from "vitest";
import { answersInSight, columnsOf } from "../../src/parts/grid/widths";
import { type Field, type Grid, textColumn } from "../../src/wire/tables";

const figures: Field = { kind: "number", name: "written", title: "written", hint: "", unit: "B", values: [1_440_000, 8] };
const PATH = "params['params']['Block_0']['Dense_0']['kernel']";
const grid = (...fields: Field[]): Grid => ({ length: 2, fields });
/** [what each column keeps, what it takes where there is room], in pixels where they are such. */
const columns = (of: Grid, isLined = false) =>
  (columnsOf(of, isLined)["--jxs-columns"] as string).split(/ (?![^(]*\))/).map((one) => one.match(/[\d.]+(?=px|fr|cqw)/g)?.map(Number) ?? []);

/** What each column keeps in a table so wide. */
function keptIn(width: number, of: Grid): number[] {
  const least = (columnsOf(of, true)["--jxs-least"] as string).replace(/^calc/, "");
  const pixels = (text: string) => Number(new Function("min", "max", `return ${text.replaceAll(/([\d.]+)cqw/g, `$1 / 100 * ${width}`).replaceAll("px", "")}`)(Math.min, Math.max));
  const [, ...columns] = least.slice(1, -1).split(/ \+ (?![^(]*\))/);
  return [pixels(least), ...columns.map(pixels)];
}

const LONG = "x is f32[5,4], was f32[4,4]; predict is a new function object with the same code";
const others = [textColumn("function", ["predict_batch_of_images_in_float32", "x"]), figures, textColumn("signature", [PATH, "x"]), textColumn("line", ["a_long_module_name.py:1234", ""])];

test("the column that a table is opened for is as wide as the others leave it room, which give way to what they keep", () => {
  const answer = { ...textColumn("why", [LONG, "x"]), isAnswer: true };
  const [before, ...without] = keptIn(940, grid(...others, { ...answer, isAnswer: false }));
  const [all, ...kept] = keptIn(940, grid(...others, answer));
  expect(all, "all fits").toBeLessThanOrEqual(940);
  expect(kept.at(-1), "the answer has more than it had").toBeGreaterThan((without.at(-1) as number) * 2);
  expect(Math.max(...kept.slice(0, -1).map((px, at) => px - (without[at] as number))), "no other has").toBeLessThanOrEqual(0);
  expect(before).toBeDefined();
});

test("in a narrow tab the answer keeps room for some words a line", () => {
  const kept = keptIn(300, grid(...others, { ...textColumn("why", [LONG, "x"]), isAnswer: true }));
  expect(kept.at(-1)).toBe(220);
});

test("where not all columns are in sight the answer stands beside the first", () => {
  const table = grid(...others, { ...textColumn("why", [LONG, "x"]), isAnswer: true });
  const names = (width: number) => answersInSight(table, true, width).fields.map(({ name }) => name);
  const [all = 0] = keptIn(300, table);
  expect(names(Math.ceil(all))).toEqual(["function", "written", "signature", "line", "why"]);
  expect(names(400)).toEqual(["function", "why", "written", "signature", "line"]);
  expect(names(0), "its width is not known yet").toEqual(["function", "written", "signature", "line", "why"]);
});

test("a short answer takes no more than its texts", () => {
  const kept = keptIn(940, grid(...others, { ...textColumn("why", ["first call", "x"]), isAnswer: true }));
  expect(kept.at(-1)).toBeLessThan(100);
});

test("a column has room for its longest text, and gives it back where the tab is narrow", () => {
  const [name, path] = columns(grid(textColumn("value", [PATH, "x"]), textColumn("why", [PATH, "x"])));
  for (const [kept, most] of [name, path] as [number, number][]) {
    expect(most).toBeGreaterThan(PATH.length * 7.2);
    expect(kept).toBeLessThan(most);
  }
});

test("a figure and the name of a row are whole, however narrow the tab", () => {
  const [name, written] = columns(grid(textColumn("buffer", ["multiply_add_fusion.74", "x"]), figures), true);
  expect(name).toHaveLength(1);
  expect(name?.[0]).toBeGreaterThan("multiply_add_fusion.74".length * 7.8);
  expect(written).toHaveLength(1);
  expect(written?.[0]).toBeGreaterThan("1.44 MB".length * 7);
  expect(written?.[0], "no wider than it needs").toBeLessThan(84);
});

test("what is given for a column is what it keeps; a short one takes no more than its texts", () => {
  const [kind, long] = columns(grid({ ...textColumn("kind", ["a", "b"]), least: 200 }, { ...textColumn("why", [PATH, ""]), least: 200 }));
  expect(kind?.[0]).toBeLessThan(60);
  expect(long?.[0]).toBe(200);
});

test("a table of many columns with lines between its rows has the smaller gap, so that twelve fit a notebook", () => {
  const few = columnsOf(grid(textColumn("buffer", ["a", "b"]), figures), true);
  const many = columnsOf(grid(textColumn("target", ["a", "b"]), ...Array.from({ length: 11 }, () => figures)), true);
  expect([few["--jxs-gap"], many["--jxs-gap"]]).toEqual(["16px", "8px"]);
});

test("what stands beside a text has room beside that text, not beside the longest", () => {
  const devices = ["cpu", "NVIDIA H100 SXM, 8 GPUs"];
  const [target] = columns(grid({ ...textColumn("target", ["before: the first version", "h100:8"]), below: (row: number) => devices[row] ?? "" }));
  const longest = "h100:8 NVIDIA H100 SXM, 8 GPUs".length;
  expect(target?.at(-1)).toBeGreaterThan(longest * 7.2);
  expect(target?.at(-1)).toBeLessThan((longest + 4) * 7.4);
});

test("a sentence keeps room for some words a line, however narrow the tab", () => {
  const how = { ...textColumn("how", ["Results have the shape and dtype of params, opt; what donating saves is not computed yet.", ""]), wraps: true };
  const [, sentence] = columns(grid(textColumn("what", ["Not donated", "x"]), how, figures), true);
  expect(sentence?.[0]).toBeGreaterThanOrEqual(240);
});
