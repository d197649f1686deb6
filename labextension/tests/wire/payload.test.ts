import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readPayload, readReports } from "../../src/wire/payload";

const packed = (value: unknown) => gzipSync(JSON.stringify(value)).toString("base64");

test("a payload is read", async () => {
  const read = readPayload({ version: 1, model: "abc", reports: packed([{ jaxstage: 3 }]), left_out: ["Machine code is not saved."] });
  expect(read).toMatchObject({ model: "abc", leftOut: ["Machine code is not saved."] });
  expect(await readReports(read.reports)).toEqual([{ jaxstage: 3 }]);
});

test.each([
  [{ version: 2 }, "update jaxstage-ext"],
  [{ version: 0 }, "An older JAXStage"],
  [{ version: "1" }, "damaged"],
  [{ version: 1.5 }, "damaged"],
  [null, "damaged"],
  ["<script>", "damaged"],
  [{ version: 1, reports: "a".repeat(33_000_000) }, "too large"],
])("what cannot be read says what it needs: %#", (raw, said) => {
  expect(() => readPayload(raw)).toThrow(said);
});

test("fields of other types are as if they were not there", () => {
  expect(readPayload({ version: 1, model: 7, reports: [1], left_out: "x" })).toEqual({ model: null, reports: "", leftOut: [] });
  expect(readPayload({ version: 1, model: "m".repeat(101), left_out: Array(50).fill("s") })).toMatchObject({ model: null, leftOut: Array(20).fill("s") });
});

test.each(["%%%", "", btoa("no gzip"), gzipSync("{").toString("base64")])("damaged reports are refused in one line: %#", async (reports) => {
  await expect(readReports(reports)).rejects.toThrow("This saved output is damaged");
});

test("a report that unpacks to far more than any was saved with is refused", async () => {
  await expect(readReports(gzipSync(Buffer.alloc(140_000_000, 32)).toString("base64"))).rejects.toThrow("unpacks to more than can be shown");
});
