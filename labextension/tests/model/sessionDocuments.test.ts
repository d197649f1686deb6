// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import fixture from "../fixtures/loss.json";
import { FakeKernel } from "../kernel";

const hlo = { kind: "hlo", title: "optimised HLO", lines: 9, bytes: 300 };
const kinds = (source: { lines: number | null; bytes: number }) => {
  const kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, documents: [{ kind: "python", title: "source", ...source }, hlo] }] });
  return new Session(kernel).documents.listed.map(({ kind }) => kind);
};

it("a file that names no source line has no pane of source, which would be half a tab of nothing", () => {
  expect(kinds({ lines: 1, bytes: 0 }), "as the kernel writes an empty text").toEqual(["hlo"]);
});

it("a source of one line has its pane, as has one that is not read yet", () => {
  expect(kinds({ lines: 1, bytes: 12 })).toEqual(["python", "hlo"]);
  expect(kinds({ lines: null, bytes: 0 })).toEqual(["python", "hlo"]);
});
