// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Doc } from "../../src/model/document";
import { Heat } from "../../src/model/heat";
import { newLayout } from "../../src/model/layout";
import { mount } from "../../src/hosts/mount";
import type { Documents } from "../../src/model/documents";
import { Session } from "../../src/model/session";
import type { Params } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { packed } from "../tabs/tableReply";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, soon } from "../kernel";

let kernel: FakeKernel;
let session: Session;
let unmount: () => void;
let fused = false;

const HEAT: Record<string, [rows: number[], values: number[], own?: number[]]> = {
  FLOPs: [[106, 107, 115], [300, Number.NaN, 100]],
  bytes: [[106, 107], [40, 60]],
  fused: [[106, 115], [300, 300], [300, 0]],
};

beforeEach(async () => {
  kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "cost"] }] });
  kernel.answers.heat = ({ measure }: Params) => {
    const [rows, values, own] = HEAT[fused ? "fused" : String(measure)] as [number[], number[], number[]?];
    return packed({ row: ["i4", rows], value: ["f8", values], own: ["f8", own ?? values] }, {});
  };
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(4000);
  session = new Session(kernel);
  unmount = mount(session, document.body, newLayout({ panes: ["python", "hlo"] }));
  await soon(() => expect($$('[data-ready="true"]').length).toBe(2));
  await soon(() => expect(bar("hlo", 106)).toBeUndefined());
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

const row = (doc: string, at: number) => $(`[data-doc="${doc}"] .jxs-rows [data-row="${at}"]`);
const bar = (doc: string, at: number) => row(doc, at)?.querySelector<HTMLElement>(".jxs-heat") ?? undefined;
const width = (doc: string, at: number) => bar(doc, at)?.style.getPropertyValue("--jxs-share");
const choose = (measure: string) => {
  const box = $(".jxs-heat-picker select") as HTMLSelectElement;
  box.value = measure;
  box.dispatchEvent(new Event("change", { bubbles: true }));
};
const sourceRow = (text: string) => [...Array(30).keys()].find((at) => session.documents.loaded("python")?.text?.line(at)?.includes(text)) as number;

it("is off at first, and the kernel is asked for nothing", () => {
  expect($$(".jxs-heat")).toEqual([]);
  expect(kernel.asked).not.toContain("heat");
});

it("stands beside HLO lines and the source lines that made them; what is unknown is no bar but a question", async () => {
  choose("FLOPs");
  await soon(() => expect(width("hlo", 106)).toBe("100%"));
  expect(width("hlo", 115)?.startsWith("33.3")).toBe(true);
  expect(width("hlo", 101)).toBe("0%");
  expect([bar("hlo", 107)?.textContent, bar("hlo", 107)?.title]).toEqual(["?", "FLOPs: unknown"]);
  expect(bar("hlo", 106)?.title).toBe("300 FLOP, 75% of what is known");
  const line = sourceRow("jnp.tanh(x @ w)");
  await soon(() => expect(bar("python", line)?.title).toBe("400 FLOP, 100% of what is known"));
});

it("another measure replaces it, and off takes it away", async () => {
  choose("FLOPs");
  await soon(() => expect(width("hlo", 106)).toBe("100%"));
  choose("bytes");
  await soon(() => expect(width("hlo", 107)).toBe("100%"));
  expect(width("hlo", 115)).toBe("0%");
  choose("");
  await soon(() => expect($$(".jxs-heat")).toEqual([]));
});

it("a fusion's work counts at the lines of its members alone", async () => {
  fused = true;
  choose("FLOPs");
  await soon(() => expect(width("hlo", 115)).toBe("100%"));
  fused = false;
  expect(bar("hlo", 115)?.title).toBe("300 FLOP, 100% of what is known");
  const line = sourceRow("jnp.tanh(x @ w)");
  await soon(() => expect(bar("python", line)?.title).toBe("300 FLOP, 100% of what is known"));
});

it("says why there is none", async () => {
  kernel.answers.heat = () => {
    throw new Error("there is nothing to count");
  };
  choose("FLOPs");
  await soon(() => expect($(".jxs-heat-picker [role=alert]")?.textContent).toBe("there is nothing to count"));
});

it("is beside the source lines once the rows of HLO have come, whatever was asked before", async () => {
  const heat = await Heat.read("FLOPs", packed({ row: ["i4", [0]], value: ["f8", [300]] }, {}));
  let rows: { frame: Int32Array } | undefined;
  const frames = { anchor: Int32Array.of(0), at: { file: Int32Array.of(0), line: Int32Array.of(7) } };
  const opening = { doc: () => ({ rows }), frames: () => frames } as unknown as Documents;
  const source = { kind: "python", rows: { file: Int32Array.of(0), number: Int32Array.of(7) } } as unknown as Doc;
  expect(heat.of(opening, source, 0)).toBeNull();
  rows = { frame: Int32Array.of(0) };
  expect(heat.of(opening, source, 0)?.title).toBe("300 FLOP, 100% of what is known");
});
