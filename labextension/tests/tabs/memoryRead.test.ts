import { describe, expect, it } from "vitest";
import { type Memory, bufferAt, bytes, lineOf, liveAt, outline, paint, readMemory, readWritten, whole } from "../../src/tabs/memory/read";
import { cellText } from "../../src/parts/grid/sort";
import type { Field } from "../../src/wire/tables";
import { COLUMNS, HEAD, reply, written } from "./memoryReply";

const read = (): Promise<Memory> => readMemory(reply());

describe("what the kernel sends", () => {
  it("becomes columns, spaces and tables", async () => {
    const memory = await read();
    expect(memory.length).toBe(5);
    expect([...memory.buffers.size]).toEqual([40, 30, 20]);
    expect(memory.buffers.names).toEqual(["w", "fusion", "dot"]);
    expect([0, 1, 2, 3].map((i) => lineOf(memory, i))).toEqual(["", "In [1]:2", "", ""]);
    expect(memory.spaces.map(({ name, peak }) => [name, peak])).toEqual([["HBM", 70]]);
    expect(cellText(memory.tables.checks?.grid.fields[0] as Field, 0)).toBe("peak");
    expect([memory.answer, memory.room, memory.notes]).toEqual(["yes", 100, ["a note"]]);
  });

  it("is read with care: columns of other lengths, values of other kinds, too much of it", async () => {
    const odd: typeof COLUMNS = { ...COLUMNS, size: ["f8", [1]], row: ["i4", [1, 2, 3, 4, 5]] };
    const memory = await readMemory(reply({ ...HEAD, fit: { answer: 3, room: "x" }, spaces: [null, 3, { color: "a" }] }, odd));
    expect([...memory.buffers.size]).toEqual([1, 0, 0]);
    expect([...memory.buffers.row]).toEqual([1, 2, 3]);
    expect([memory.answer, memory.room]).toEqual(["", null]);
    expect(memory.spaces.map(({ color, name }) => [color, name])).toEqual([[0, ""], [0, ""], [0, ""]]);
    const table = await readWritten(written({ a: ["x", null, ""] }, { length: 4, notes: 3 }, { row: [2], from: [1] }));
    expect([0, 1, 2].map((row) => cellText(table.grid.fields[0] as Field, row))).toEqual(["x", "unknown", ""]);
    expect([table.grid.length, [...table.row], [...table.from], [...table.to], table.notes]).toEqual([3, [2, -1, -1], [1, -1, -1], [-1, -1, -1], []]);
    expect((await readMemory({ result: {}, buffers: [] })).length).toBe(0);
    await expect(readWritten({ result: { columns: [{ name: "a" }], rows: [["x"]] }, buffers: [] })).rejects.toThrow("Another version of JAXStage");
  });
});

describe("the picture", () => {
  it("knows what lives and what lies where", async () => {
    const memory = await read();
    const [space] = memory.spaces as [Memory["spaces"][0]];
    expect([0, 1, 2, 3, 4].map((at) => liveAt(space, at))).toEqual([40, 70, 70, 60, 60]);
    expect(bufferAt(memory, space, 0, 10)).toBe(0);
    expect(bufferAt(memory, space, 2.9, 45)).toBe(1);
    expect(bufferAt(memory, space, 3, 45)).toBe(-1);
    expect(bufferAt(memory, space, 4, 69)).toBe(2);
    expect(bufferAt(memory, { ...space, color: 1 }, 0, 10)).toBe(-1);
  });

  it("shows the device's memory where that is near", async () => {
    const memory = await read();
    const [space] = memory.spaces as [Memory["spaces"][0]];
    expect(whole(memory, space).top).toBeCloseTo(104);
    expect(whole({ ...memory, room: 10_000 }, space).top).toBeCloseTo(83.2);
  });

  it("paints each buffer where it lies, with a line between neighbours", async () => {
    const memory = await read();
    const [space] = memory.spaces as [Memory["spaces"][0]];
    const [width, height] = [50, 80];
    const pixels = new Uint32Array(width * height);
    paint(pixels, width, height, memory, space, { from: 0, to: 5, top: 80 }, [[1, 1, 1], [], [], [2, 2, 2], [3, 3, 3]]);
    const at = (x: number, y: number) => pixels[(height - 1 - y) * width + x];
    expect([at(5, 10), at(15, 45), at(45, 55)]).toEqual([1, 2, 3]);
    expect([at(5, 45), at(29, 45), at(15, 39), at(35, 45)]).toEqual([0, 0, 0, 0]);
    const tiny = new Uint32Array(4);
    paint(tiny, 2, 2, memory, space, { from: 0, to: 5000, top: 80_000 }, [[1, 1, 1], [], [], [2, 2, 2], [3, 3, 3]]);
    expect([...tiny]).toEqual([0, 0, 3, 0]);
  });

  it("draws the highest of each column", async () => {
    const memory = await read();
    const [space] = memory.spaces as [Memory["spaces"][0]];
    expect([...outline(space, 5, { from: 0, to: 5, top: 1 })]).toEqual([40, 70, 70, 60, 60]);
    expect([...outline(space, 1, { from: 0, to: 5, top: 1 })]).toEqual([70]);
  });

  it("writes bytes as the kernel does", () => {
    expect([0, 34, 999.6, 1500, 44_600_000, 2.19e9].map(bytes)).toEqual(["0 B", "34 B", "1 kB", "1.5 kB", "44.6 MB", "2.19 GB"]);
  });
});
