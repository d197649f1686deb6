import { expect, test } from "vitest";
import { differing, entryOf, isTouched, linesOf } from "../../src/tabs/passes/diffLines";
import { difference } from "../../src/wire/figures";
import { type Diff, CHANGED, GONE, SAME, deltaBytes, duration, fuzzy, groups, readDiff, readHistory, readPasses } from "../../src/tabs/passes/read";

const info = (kind: string, lines: number) => ({ kind, title: kind, lines, bytes: 1 });

function diffOf(left: number[], right: number[], before: Record<number, number>, after: Record<number, number>): Diff {
  const side = (kind: string, rows: number[], states: Record<number, number>) => {
    const n = Math.max(-1, ...rows) + 1;
    const state = new Uint8Array(n);
    for (const [row, value] of Object.entries(states)) state[Number(row)] = value;
    return { info: info(kind, n), rows: Int32Array.from(rows), state, match: new Int32Array(n).fill(-1) };
  };
  return { before: side("pass:0", left, before), after: side("pass:1", right, after), counts: [] };
}

const rows = (n: number) => [...Array(n).keys()];

test("what is far from a change is folded into one line, and can be opened", () => {
  const diff = diffOf(rows(40), rows(40), { 20: CHANGED }, { 20: CHANGED });
  const lines = linesOf(diff, new Set());
  expect(lines.line).toEqual([0, 17, 18, 19, 20, 21, 22, 23, 24]);
  expect(lines.folded).toEqual([17, 0, 0, 0, 0, 0, 0, 0, 16]);
  expect(lines.changes).toEqual([4]);
  expect(entryOf(lines, 5)).toBe(0);
  expect(entryOf(lines, 20)).toBe(4);
  expect(entryOf(lines, 39)).toBe(8);
  expect(linesOf(diff, new Set([0])).line.length).toBe(25);
});

test("runs of changes count once each", () => {
  const diff = diffOf([0, 1, -1, 2, 3], [0, -1, 1, 2, 3], { 1: GONE }, { 1: GONE, 3: GONE });
  expect(rows(5).map((line) => isTouched(diff, line))).toEqual([false, true, true, false, true]);
  expect(linesOf(diff, new Set()).changes).toEqual([1, 4]);
});

test("no change at all is one fold", () => {
  expect(linesOf(diffOf(rows(30), rows(30), {}, {}), new Set())).toEqual({ line: [0], folded: [30], changes: [] });
  expect(linesOf(diffOf([], [], {}, {}), new Set()).line).toEqual([]);
});

test("the differing part leaves names out, unless nothing else differs", () => {
  const part = (a: string, b: string) => {
    const found = differing(a, b);
    return found && a.slice(...found);
  };
  expect(part("  %a.1 = f32[8]{0} sine(%x)", "  ROOT %b.2 = f32[8]{1} sine(%y)")).toBe("0");
  expect(part("  %a.1 = f32[8] sine(%x), k=1", "  %a.1 = f32[8] cosine(%x), k=1")).toBe("sine");
  expect(part("  %a = f32[] add(%x, %y)", "  %a = f32[] add(%z, %y)")).toBe("%x");
  expect(part("  %a = f32[] add(%x)", "  %b = f32[] add(%x)")).toBeNull();
});

test("fuzzy takes letters in their order", () => {
  expect(fuzzy("lyasg", "layout-assignment")).toBe(true);
  expect(fuzzy("dce x", "dce")).toBe(false);
  expect(fuzzy("FUS wr", "post fusion-wrapper")).toBe(true);
  expect(fuzzy("", "anything")).toBe(true);
});

test("numbers as they are shown", () => {
  expect([difference(0), difference(1234), difference(-3)]).toEqual(["", "+1,234", "−3"]);
  expect([deltaBytes(0), deltaBytes(-12), deltaBytes(34_300), deltaBytes(-2e9)]).toEqual(["", "−12 B", "+34.3 kB", "−2 GB"]);
  expect([duration(null), duration(12e-6), duration(0.0034), duration(2.5)]).toEqual(["unknown", "12 µs", "3.4 ms", "2.5 s"]);
});

const PASS = { pipeline: "p", name: "dce", changed: true, seconds: 1e-3, "added instructions": -3, "added fusions": 0, "added bytes": 4, version: 2 };

test("a list of passes is read, checked and grouped", () => {
  const passes = [PASS, { ...PASS, pipeline: "q", seconds: "soon", version: -1 }, null];
  const list = readPasses({ result: { title: "t", complete: true, notes: ["n", 3], passes }, buffers: [] });
  expect(list.notes).toEqual(["n"]);
  expect(list.passes.map((p) => [p.index, p.pipeline, p.seconds, p.version])).toEqual([
    [0, "p", 1e-3, 2],
    [1, "q", null, 0],
    [2, "", null, 0],
  ]);
  expect(groups(list.passes).map((g) => [g.pipeline, g.passes.length])).toEqual([["p", 1], ["q", 1], ["", 1]]);
  expect(readPasses({ result: {}, buffers: [] }).passes).toEqual([]);
});

test("a history is read", () => {
  const steps = [{ pass: 3, what: "moved", before: [1], after: [2, "x"], line: "l" }];
  expect(readHistory({ result: { line: "a", first: -1, steps }, buffers: [] })).toEqual({
    line: "a",
    first: -1,
    steps: [{ pass: 3, what: "moved", before: [1], after: [2, 0], line: "l" }],
  });
});

test("a difference of another document is refused, rows that are not there become blanks", async () => {
  await expect(readDiff({ result: { before: { kind: "hlo" }, after: {} }, buffers: [] })).rejects.toThrow("another document");
  const column = async (values: number[]) => {
    const stream = new Blob([Int32Array.from(values)]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  };
  const names = ["left", "right", "match_before"];
  const read = await readDiff({
    result: {
      before: info("pass:0", 2),
      after: info("pass:1", 1),
      counts: { added: 1, moved: 0 },
      columns: names.map((name) => ({ name, dtype: "i4" })),
    },
    buffers: await Promise.all([column([0, 7, 1]), column([0, -1, -5]), column([0, 4])]),
  });
  expect([...read.before.rows]).toEqual([0, -1, 1]);
  expect([...read.after.rows]).toEqual([0, -1, -1]);
  expect([...read.before.match]).toEqual([0, -1]);
  expect(read.before.state[0]).toBe(SAME);
  expect(read.counts).toEqual([["added", 1]]);
});
