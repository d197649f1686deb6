import { expect, test } from "vitest";
import { type Tree, grow, neighbour, tileAt, visible, windowOf } from "../../src/tabs/cost/icicle";

const path = (text: string) => (text ? text.split("/").map((name) => ({ name })) : []);
const PATHS = ["a/b", "a", "a/b", "c", "", "c"];
const tree = grow("all", [3, 2, 4, 1, 5, Number.NaN], (item) => path(PATHS[item] as string), (item) => `i${item}`);

const shown = (of: Tree, depth: number, focus = 0, width = 150) => {
  const found: string[] = [];
  visible(of, depth, windowOf(of, focus), width, (tile, x, w) => found.push(`${of.names[tile]} ${Math.round(x)}+${Math.round(w)}`));
  return found;
};

test("tiles are as wide as their share, the largest first, and stand under their parent", () => {
  expect(tree.total).toBe(15);
  expect(tree.unknown).toBe(1);
  expect(shown(tree, 0)).toEqual(["all 0+150"]);
  expect(shown(tree, 1)).toEqual(["a 0+90", "i4 90+50", "c 140+10"]);
  expect(shown(tree, 2)).toEqual(["b 0+70", "i1 70+20", "i3 140+10"]);
  expect(shown(tree, 3)).toEqual(["i2 0+40", "i0 40+30"]);
});

test("a tile leads to its largest item", () => {
  const at = (name: string) => tree.names.indexOf(name);
  expect([at("all"), at("a"), at("c")].map((tile) => tree.item[tile])).toEqual([4, 2, 3]);
  expect([at("a"), at("i2")].map((tile) => tree.leaf[tile])).toEqual([0, 1]);
});

test("inside of a tile, what is in it fills the width, and what is around it is full", () => {
  const b = tree.names.indexOf("b");
  expect(shown(tree, 3, b, 70)).toEqual(["i2 0+40", "i0 40+30"]);
  expect(shown(tree, 1, b, 70)).toEqual(["a 0+70"]);
  expect(shown(tree, 0, b, 70)).toEqual(["all 0+70"]);
});

test("found by place, and by arrows", () => {
  const name = (tile: number) => tree.names[tile];
  expect(name(tileAt(tree, 2, 8.9))).toBe("i1");
  expect(tileAt(tree, 2, 9.5)).toBe(-1);
  expect(tileAt(tree, 9, 0)).toBe(-1);
  const a = tree.names.indexOf("a");
  const steps = ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowDown"];
  const seen: (string | undefined)[] = [];
  steps.reduce((at, key) => {
    const next = neighbour(tree, at, key);
    seen.push(name(next));
    return next;
  }, a);
  expect(seen).toEqual(["b", "i2", "i0", "b", "i1", "i1"]);
});

test("200,000 tiles draw no more than there are pixels", () => {
  const n = 200_000;
  const big = grow("all", Array(n).fill(1), (item) => path(`m/${item % 7}/${item % 1001}`), (item) => `i${item}`);
  expect(big.length).toBeGreaterThan(n);
  for (let depth = 0; depth < big.lanes.length; depth++) {
    let drawn = 0;
    let covered = 0;
    visible(big, depth, windowOf(big, 0), 1000, (_, x, w) => {
      drawn++;
      covered = Math.max(covered, x + w);
    });
    expect(drawn).toBeLessThanOrEqual(2002);
    expect(covered).toBeGreaterThan(998);
  }
});

test("nothing is a tree of one tile", () => {
  const nothing = grow("all", [], () => [], () => "");
  expect([nothing.length, nothing.total]).toEqual([1, 0]);
  expect(shown(nothing, 0)).toEqual([]);
  expect(tileAt(nothing, 0, 0)).toBe(-1);
});

test("a path that never ends is cut", () => {
  const deep = grow("all", [1], () => Array.from({ length: 5000 }, (_, i) => ({ name: String(i) })), () => "leaf");
  expect(deep.lanes.length).toBe(62);
});

test("a level that repeats the one around it is drawn once", () => {
  const paths = [
    ["net", "net", "net", "layer"],
    ["net", "net", "net", "other"],
  ];
  const tree = grow("all", [3, 1], (i) => (paths[i] ?? []).map((name) => ({ name })), (i) => `op.${i}`);
  expect(tree.names).toEqual(["all", "net", "layer", "op.0", "other", "op.1"]);
  expect([...tree.depth].slice(0, tree.length)).toEqual([0, 1, 2, 3, 2, 3]);
  expect(tree.lanes.map((lane) => lane.length)).toEqual([1, 1, 2, 2]);
});

test("a name inside its own is a level where it is not all of it", () => {
  const paths = [["net", "net"], ["net"]];
  const tree = grow("all", [3, 1], (i) => (paths[i] ?? []).map((name) => ({ name })), (i) => `op.${i}`);
  expect(tree.names).toEqual(["all", "net", "net", "op.0", "op.1"]);
});
