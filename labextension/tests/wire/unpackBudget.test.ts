import { deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { gunzip } from "../../src/wire/gzip";
import { readReports } from "../../src/wire/payload";
import { SavedSource } from "../../src/wire/savedForm";

const MB = 1024 * 1024;
const bomb = (size: number) => deflateSync(Buffer.alloc(size, 32), { level: 9 }).toString("base64");
const reports = (json: string) => gzipSync(json).toString("base64");

const strangers = (most: number) => {
  const document = { text: { data: bomb(20 * MB) }, columns: { line: { dtype: "i4", data: bomb(20 * MB) } } };
  const replies = { "small {}": { result: {}, buffers: [bomb(MB)] }, "raw {}": { result: {}, buffers: [btoa("not packed")] } };
  const report = { jaxstage: 3, summary: {}, documents: { hlo: document, jaxpr: document, stablehlo: document }, replies };
  return new SavedSource([report], most);
};
const ask = (source: SavedSource, method: string, doc?: string) => source.request(method, { call: 0, ...(doc && { doc }) });

test("the parts of a saved report unpack to so much together, and no more", async () => {
  const source = strangers(50 * MB);
  await ask(source, "document", "hlo");
  await ask(source, "columns", "hlo");
  await expect(ask(source, "document", "jaxpr")).rejects.toThrow("This is not shown: the saved output unpacks to more than 50 MB.");
  await ask(source, "small");
  expect((await ask(source, "raw")).buffers[0]?.byteLength).toBe(10);
});

test("what was shown once is shown as often as it is asked for", async () => {
  const source = strangers(25 * MB);
  for (let time = 0; time < 3; time++) await ask(source, "document", "hlo");
  for (let time = 0; time < 2; time++) await expect(ask(source, "columns", "hlo")).rejects.toThrow("25 MB");
});

test("parts asked for together share what there is", async () => {
  const source = strangers(50 * MB);
  const asked = await Promise.allSettled(["hlo", "jaxpr", "stablehlo"].map((doc) => ask(source, "document", doc)));
  expect(asked.filter(({ status }) => status === "fulfilled").length).toBeLessThan(3);
});

test("far more lines than any document has are refused", async () => {
  const text = { data: deflateSync("\n".repeat(5_000_000)).toString("base64") };
  const source = new SavedSource([{ jaxstage: 3, summary: {}, documents: { hlo: { text, columns: {} } } }], 50 * MB);
  await expect(ask(source, "document", "hlo")).rejects.toThrow("more than 4,000,000 lines");
});

test("bombs are left as soon as they are too large", async () => {
  const packed = gzipSync(Buffer.alloc(256 * MB), { level: 9 });
  const began = performance.now();
  await expect(gunzip(new Uint8Array(packed).buffer, MB)).rejects.toThrow("more than 1048576 bytes");
  expect(performance.now() - began).toBeLessThan(1000);
});

test.each([
  ["nests deeply", "[".repeat(200_000) + "]".repeat(200_000)],
  ["nests deeply in a report", `[{"jaxstage":3,"summary":${"[".repeat(500)}${"]".repeat(500)}}]`],
  ["has millions of values", `[${"{},".repeat(2_000_000)}0]`],
  ["is one long text", `["${" ".repeat(20 * MB)}"]`],
])("a report that %s is refused in one line", async (_, json) => {
  await expect(readReports(reports(json))).rejects.toThrow("This saved output unpacks to more than can be shown");
});

test("brackets and quotes in texts are no structure", async () => {
  const texts = ["[".repeat(1000), '"'.repeat(999), "\\".repeat(7), '\\"[', ",".repeat(2_000_000)];
  expect(await readReports(reports(JSON.stringify(texts)))).toEqual(texts);
});
