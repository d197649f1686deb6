import { expect, it } from "vitest";
import { Folds } from "../../src/model/folds";

// 0 { 1 { 2 3 } 4 } 5 | 6 { 7 } 8..19
function folds(): Folds {
  const ends = new Int32Array(20).fill(-1);
  ends[0] = 5;
  ends[1] = 3;
  ends[6] = 7;
  return new Folds(20, ends);
}

const shown = (f: Folds): number[] => Array.from({ length: f.visible }, (_, i) => f.rowAt(i));

it("hides a folded block but for its first row", () => {
  const f = folds();
  f.toggle(1);
  f.toggle(6);
  expect(shown(f)).toEqual([0, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
});

it("keeps an inner fold when the outer one opens again", () => {
  const f = folds();
  f.toggle(1);
  f.toggle(0);
  expect(shown(f).slice(0, 3)).toEqual([0, 6, 7]);
  f.toggle(0);
  expect(shown(f).slice(0, 4)).toEqual([0, 1, 4, 5]);
});

it("maps every visible row to its position and back", () => {
  const f = folds();
  f.foldAll();
  shown(f).forEach((row, index) => expect(f.indexOf(row)).toBe(index));
  expect(f.indexOf(3)).toBe(f.indexOf(0));
});

it("reveals a row by unfolding only what hides it", () => {
  const f = folds();
  f.foldAll();
  expect(f.reveal(2)).toBe(true);
  expect(f.isHidden(2)).toBe(false);
  expect(f.isFolded(6)).toBe(true);
  expect(f.reveal(2)).toBe(false);
});

it("leaves a block open that is most of the document", () => {
  const ends = new Int32Array(10).fill(-1);
  ends[0] = 9;
  ends[2] = 4;
  const f = new Folds(10, ends);
  f.foldAll();
  expect(f.foldedRows).toEqual([2]);
});

it("knows the block around a row, and believes no end beyond the document", () => {
  const f = folds();
  expect([0, 1, 2, 4, 6, 7, 8].map((row) => f.parent(row))).toEqual([-1, 0, 1, 0, -1, 6, -1]);
  const wild = new Folds(3, Int32Array.from([99, -5, 0]));
  wild.foldAll();
  wild.toggle(0);
  expect(shown(wild)).toEqual([0]);
});

it("keeps folds when the same rows get new columns", () => {
  const f = folds();
  f.toggle(6);
  const ends = new Int32Array(20).fill(-1);
  ends[6] = 9;
  f.replace(ends);
  expect(f.visible).toBe(17);
});

it("knows the blocks that lie in no other", () => {
  expect(folds().outermost).toEqual([0, 6]);
  expect(new Folds(4).outermost).toEqual([]);
});
