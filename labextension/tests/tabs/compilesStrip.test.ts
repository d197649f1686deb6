import { describe, expect, it } from "vitest";
import { causeRows, readCauses, readCompiles } from "../../src/tabs/compiles/read";
import { type Strip, barAt, stripOf } from "../../src/tabs/compiles/strip";
import { causesReply, listReply, packed } from "./compilesReplies";

const ALL = [0, 1, 2, 3, 4, 5, 6, 7];

async function made(rows = ALL, list = listReply()): Promise<Strip> {
  const compiles = await readCompiles(list);
  const causes = await readCauses(causesReply());
  return stripOf(compiles, causes, causeRows(compiles, causes), rows);
}

describe("the strip of a kernel's life", () => {
  it("has the compiles in their order, within its width, those inside others below them", async () => {
    const { bars, lanes } = await made();
    for (const { from, to } of bars) expect(from >= 0 && from < to && to <= 1).toBe(true);
    expect(bars.map(({ from }) => from)).toEqual(bars.map(({ from }) => from).sort((a, b) => a - b));
    expect(bars.map(({ lane }) => lane)).toEqual([0, 0, 0, 1, 0, 0, 0, 0]);
    expect(lanes).toBe(2);
  });

  it("shortens the times without a compile: they take less than half of it, and keep their length in words", async () => {
    const { bars, pauses } = await made();
    const drawn = bars.filter(({ lane }) => lane === 0).reduce((sum, { from, to }) => sum + to - from, 0);
    expect(drawn).toBeGreaterThan(0.5);
    expect(pauses.map(({ seconds }) => Math.round(seconds))).toEqual([10, 88, 597, 6, 9]);
  });

  it("keeps lengths of compiles in proportion", async () => {
    const { bars } = await made();
    const size = (row: number) => (bars[row]?.to ?? 0) - (bars[row]?.from ?? 0);
    expect(size(5) / size(4)).toBeCloseTo(4 / 3, 3);
  });

  it("marks each cell once, where its first compile began", async () => {
    const { cells, bars } = await made();
    expect(cells.map(({ label }) => label)).toEqual(["In [1]", "In [2]", "In [3]", "In [4]", "In [5]"]);
    expect(cells[2]?.at).toBe(bars[4]?.from);
  });

  it("tells what can be avoided, what failed and what is ours", async () => {
    const { bars } = await made();
    expect(bars.map(({ kind }) => kind)).toEqual(["compiled", "compiled", "compiled", "compiled", "mendable", "mendable", "failed", "ours"]);
  });

  it("shows what was loaded from the persistent cache as that, though it can be avoided", async () => {
    const cached = packed(
      { number: [5, 6], parent: [-1, -1], flags: [1, 1], began: Float64Array.from([0, 2]), span: Float64Array.from([1, 1]), own: Float64Array.from([1, 1]), cell: ["In [1]", "In [1]"], outcome: ["loaded", "compiled"] },
      {},
    );
    expect((await made([0, 1], cached)).bars.map(({ kind }) => kind)).toEqual(["loaded", "mendable"]);
  });

  it("finds the bar under the pointer, in its own lane before others, and none far from all", async () => {
    const strip = await made();
    const inner = strip.bars[3];
    if (!inner) throw new Error("no bar");
    const x = ((inner.from + inner.to) / 2) * 1000;
    expect(barAt(strip, x, 1, 1000)?.row).toBe(3);
    expect(barAt(strip, x, 0, 1000)?.row).toBe(2);
    const [, first] = strip.pauses;
    expect(barAt(strip, (first?.at ?? 0) * 4000, 0, 4000)).toBeNull();
  });

  it("of one compile, and of none, is drawn too", async () => {
    expect((await made([4])).bars).toHaveLength(1);
    expect((await made([])).bars).toEqual([]);
  });
});

describe("replies", () => {
  it("may lack columns, or have some of other lengths", async () => {
    const broken = await readCompiles(packed({ number: [1, 2], own: [] }, {}));
    expect([...broken.number]).toEqual([1, 2]);
    expect([...broken.own]).toEqual([0, 0]);
    const absurd = await readCompiles({ result: { columns: [{ name: "number" }], strings: { line: "x" } }, buffers: [] });
    expect(absurd.length).toBe(0);
    expect(absurd.line.strings).toEqual([]);
  });

  it("of causes are joined by number, so that a saved part of them stays right", async () => {
    const compiles = await readCompiles(listReply());
    const some = await readCauses(packed({ number: [7, 5], flags: [4, 1], why: ["failed", "shape"] }, { totals: {} }));
    expect([...causeRows(compiles, some)]).toEqual([-1, -1, -1, -1, 1, -1, 0, -1]);
  });
});
