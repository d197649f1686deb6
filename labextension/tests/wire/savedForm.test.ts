import { deflateSync, gunzipSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readFrames } from "../../src/model/frames";
import { readRows } from "../../src/wire/columns";
import { gunzip } from "../../src/wire/gzip";
import type { Reply } from "../../src/wire/source";
import { SavedSource, replyKey } from "../../src/wire/savedForm";
import fixture from "../fixtures/loss.json";

const HLO = { call: 0, doc: "hlo" };
const packed = (text: string) => ({ encoding: "utf-8", data: deflateSync(text).toString("base64") });
const holding = (text: unknown, jaxstage = 3) =>
  new SavedSource([{ jaxstage, summary: {}, documents: { hlo: { text, scopes: [], columns: {} } } }]);
const textOf = async ({ buffers }: Reply) => new TextDecoder().decode(await gunzip(buffers[0] ?? new ArrayBuffer(0)));

describe("a page of saved reports", () => {
  it("answers from what it holds, and says what it does not hold", async () => {
    const source = new SavedSource(fixture);
    expect(source.state().calls.map(({ name }) => name)).toEqual(["loss"]);
    const reply = await source.request("document", HLO);
    expect(reply.result.mode).toBe("full");
    const lines = (await textOf(reply)).split("\n");
    expect(lines[0]).toContain("HloModule");
    expect(lines.length).toBe(fixture[0]?.summary.documents.find(({ kind }) => kind === "hlo")?.lines);
    await expect(source.request("document", { call: 7, doc: "hlo" })).rejects.toThrow("not saved with the report");
    await expect(source.request("document", { call: 0, doc: "constructor" })).rejects.toThrow("not saved with the report");
    await expect(source.request("constructor", {})).rejects.toThrow("not saved with the report");
    await expect(source.request("page", HLO)).rejects.toMatchObject({ kind: "absent" });
  });

  it("links rows to the source", async () => {
    const source = new SavedSource(fixture);
    const lines = (await textOf(await source.request("document", HLO))).split("\n");
    const rows = await readRows(await source.request("columns", HLO), lines.length);
    const frames = await readFrames(await source.request("frames", { call: 0 }));
    const row = lines.findIndex((line) => line.includes("tanh("));
    const frame = frames.anchor[rows.frame[row] ?? -1] ?? -1;
    expect(frames.fileOf(frame)?.label).toBe("labextension/dev/fixture.py");
    expect(frames.functionOf(frame)).toBe("loss");
    expect(frames.at.line[frame]).toBeGreaterThan(10);
    expect(rows.scopes.some((scope) => scope.includes("head"))).toBe(true);
  });

  it("has the targets of one report after another, in their order", () => {
    const of = (target: string, order: string[]) => ({
      jaxstage: 3,
      target,
      order,
      summary: { name: target },
      others: Object.fromEntries(order.filter((name) => name !== target).map((name) => [name, { summary: { name } }])),
    });
    const source = new SavedSource([of("b", ["a", "b", "c"]), of("d", ["d"])]);
    expect(source.state().calls.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
  });

  it("shows the ends of a long line", async () => {
    const content = await textOf(await holding(packed(`a\n${"x".repeat(5000)}\nb`)).request("document", HLO));
    expect(content).toBe(`a\n${"x".repeat(2000)}… [2,500 characters elided] …${"x".repeat(500)}\nb`);
  });

  it("of formats 1 and 2 has plain text", async () => {
    for (const version of [1, 2]) expect(await textOf(await holding("é\nb", version).request("document", HLO))).toBe("é\nb");
  });

  it("of an unknown format is refused", () => {
    expect(() => holding("", 5)).toThrow("This report has format 5; formats 1 to 4 can be read.");
    expect(() => new SavedSource([{}])).toThrow("format undefined");
    expect(new SavedSource({}).state().calls).toEqual([]);
  });

  it("that is damaged rejects a request and does not throw", async () => {
    for (const text of [7, { data: "!" }, { data: packed("abc").data.slice(0, 8) }]) {
      await expect(holding(text).request("document", HLO)).rejects.toThrow();
    }
    const source = new SavedSource([{ jaxstage: 3, frames: { files: [3, null], functions: 5, columns: { line: 8 } } }]);
    expect((await readFrames({ ...(await source.request("frames", { call: 0 })), buffers: [] })).length).toBe(0);
  });
});

it("data as zlib has it unpacks, to no more than the limit", async () => {
  const bytes = Uint8Array.from(deflateSync(new Uint8Array(100_000)));
  expect((await gunzip(bytes.buffer)).length).toBe(inflateSync(bytes).length);
  await expect(gunzip(bytes.buffer, 1000)).rejects.toThrow("more than 1000 bytes");
  expect(() => gunzipSync(bytes)).toThrow();
});

it("a report may hold the reply to any request, whatever the order of its parameters", async () => {
  const replies = { 'cost_groups {"group":"line"}': { result: { length: 2 }, buffers: ["AQI="] } };
  const source = new SavedSource([{ jaxstage: 3, summary: {}, replies }]);
  expect(replyKey("page", { start: 1, end: 2 })).toBe(replyKey("page", { end: 2, call: 3, start: 1 }));
  const reply = await source.request("cost_groups", { group: "line", call: 0 });
  expect(reply.result.length).toBe(2);
  expect([...new Uint8Array(reply.buffers[0] ?? new ArrayBuffer(0))]).toEqual([1, 2]);
  await expect(source.request("cost_groups", { group: "scope", call: 0 })).rejects.toThrow("not saved with the report");
});
