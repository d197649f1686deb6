import { describe, expect, it } from "vitest";
import { NONE, STRONG, WEAK, classOf, colouredLines, hueOfRow, litByRow, litRows } from "../../src/model/links";
import { type FrameTuple, frames, rows } from "../helpers";

// line 3 `h = tanh(x @ w)`: tanh (0) and x @ w (1); line 7 calls a helper (2), whose line 20 is 3;
// a library frame (4) called from line 3; a multi-line expression on 9..11 (5)
const TABLE: FrameTuple[] = [
  [0, 3, 5, 3, 16, -1, 0],
  [0, 3, 10, 3, 15, -1, 1],
  [0, 7, 5, 7, 14, -1, 2],
  [0, 20, 12, 20, 18, 2, 3],
  [1, 500, 1, 500, 9, 0, 0],
  [0, 9, 5, 11, 6, -1, 5],
];
const all = frames(TABLE, [{ name: "cell" }, { name: "jax.py", user: false }]);
const ir = rows([0, 1, 2, 3, 4, 5, -1]);
const source = rows([-1, -1, -1, -1, -1], {
  file: Int32Array.from([0, 0, 0, 0, 0]),
  number: Int32Array.from([-1, 3, 7, 10, 20]),
});

function classes(from: typeof ir, row: number, to: typeof ir): number[] {
  const lit = litByRow(all, from, row);
  return [...to.frame].map((_, i) => classOf(lit, to, i));
}

describe("a row of an IR document", () => {
  it("lights its own expression strongly and others of its line weakly", () => {
    expect(classes(ir, 1, ir)).toEqual([WEAK, STRONG, NONE, NONE, WEAK, NONE, NONE]);
  });

  it("stands for the nearest user frame when it comes from a library", () => {
    expect(classes(ir, 4, ir)).toEqual([STRONG, WEAK, NONE, NONE, STRONG, NONE, NONE]);
  });

  it("lights its source line, and all lines of a long expression", () => {
    expect(classes(ir, 0, source)).toEqual([NONE, STRONG, NONE, NONE, NONE]);
    expect(classes(ir, 5, source)).toEqual([NONE, NONE, NONE, STRONG, NONE]);
  });

  it("lights nothing when its source is not known", () => {
    expect(litByRow(all, ir, 6)).toBeNull();
  });
});

describe("a source line", () => {
  it("lights what it made strongly and what its calls made weakly", () => {
    expect(classes(source, 1, ir)).toEqual([STRONG, STRONG, NONE, NONE, STRONG, NONE, NONE]);
    expect(classes(source, 2, ir)).toEqual([NONE, NONE, STRONG, WEAK, NONE, NONE, NONE]);
  });

  it("lights a long expression from any of its lines", () => {
    expect(classes(source, 3, ir)).toEqual([NONE, NONE, NONE, NONE, NONE, STRONG, NONE]);
  });

  it("lights nothing from a title", () => {
    expect(classes(source, 0, ir)).toEqual(new Array(7).fill(NONE));
  });

  it("survives frames that call each other in a circle", () => {
    const circle = frames([
      [0, 1, 1, 1, 2, 1, 0],
      [0, 2, 1, 2, 2, 0, 1],
    ]);
    const line = rows([-1], { file: Int32Array.from([0]), number: Int32Array.from([9]) });
    expect([...(litByRow(circle, line, 0)?.frames ?? [])]).toEqual([NONE, NONE]);
  });
});

it("counterparts are the strong rows, or the weak ones where there are no strong", () => {
  expect(litRows(litByRow(all, source, 2), ir)).toEqual([2]);
  expect(litRows(litByRow(all, source, 2), rows([0, 3, 3]))).toEqual([1, 2]);
});

it("rows of one source line share a hue in every document, and neighbouring lines differ", () => {
  const coloured = colouredLines(all);
  const hues = [0, 1, 4].map((row) => hueOfRow(all, coloured, ir, row));
  expect(new Set(hues).size).toBe(1);
  expect(hueOfRow(all, coloured, source, 1)).toBe(hues[0]);
  expect(hueOfRow(all, coloured, ir, 2)).not.toBe(hues[0]);
  expect(hueOfRow(all, coloured, source, 3)).toBe(hueOfRow(all, coloured, ir, 5));
  expect(hueOfRow(all, coloured, ir, 6)).toBeNull();
});
