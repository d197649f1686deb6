// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sorted } from "../../src/parts/grid/sort";
import { gridOf, kernelAt, readFigures, readKernels } from "../../src/tabs/machine/read";
import { mount } from "../../src/hosts/mount";
import type { Doc } from "../../src/model/document";
import { litRows } from "../../src/model/links";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import MachineView from "../../src/tabs/machine/view";
import { TABS } from "jaxstage:tabs";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, soon } from "../kernel";

const hlo = fixture[0]?.summary.documents.find((d) => d.kind === "hlo");
const STAGES = [
  { name: "ptx", title: "PTX" },
  { name: "sass", title: "SASS" },
];
const KERNELS = [
  { key: "dot_1", own: true, instructions: ["dot.1"], kind: "Triton fusion", rows: [[2, 3]], lacks: {}, grid: [4, 1, 1], threads: [64, 1, 1] },
  { key: "tight", own: true, instructions: ["fusion", "fusion.1"], kind: "loop fusion", rows: [[3, 9]], lacks: { sass: "needs nvdisasm: pip install x" } },
  { key: "custom-call.1", own: false, instructions: ["custom-call.1"], kind: "custom-call to <b>lib</b>", rows: [], lacks: { ptx: "a library does it", sass: "a library does it" } },
];
const FIGURES = {
  dot_1: { registers: 32, spills: 0, shared: 1024, code_bytes: 640, instructions: 31, reason: null },
  tight: { registers: 255, spills: 96, shared: 0, code_bytes: 4096, instructions: 250, reason: null },
  "custom-call.1": { registers: null, reason: "a library does it" },
};
const reply = (result: Record<string, unknown>): Reply => ({ result, buffers: [] });

let kernel: FakeKernel;
let session: Session;
let unmount: () => void;

async function open(more: Record<string, unknown> = {}): Promise<void> {
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "machine"] }] });
  kernel.answers.kernels = () => reply({ platform: "cuda", stages: STAGES, kernels: KERNELS, notes: ["a <i>note</i>"], ...more });
  kernel.answers.figures = () => reply({ figures: FIGURES });
  kernel.answers.kernel = ({ doc }: Params) => reply({ kind: doc, title: `text of ${doc}`, lines: hlo?.lines, bytes: hlo?.bytes });
  const real = kernel.request.bind(kernel);
  vi.spyOn(kernel, "request").mockImplementation((method, params) =>
    real(method, String(params.doc ?? "").includes(":") && method !== "kernel" ? { ...params, doc: "hlo" } : params),
  );
  session = new Session(kernel);
  unmount = mount(session, document.body);
  click($('[role="tab"][data-view="machine"]'));
  await soon(() => expect($(".jxs-machine, .jxs-lack")).not.toBeNull());
}

beforeEach(() => {
  TABS.machine = { title: "machine", hint: "", component: MachineView };
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

/** A line of a document, and the rows of the HLO document that came from it: the last line that has such. */
async function lineWithHlo(kind: string): Promise<{ line: number; rows: number[] }> {
  const { documents } = new Session(kernel);
  const [doc, target] = [documents.doc(kind) as Doc, documents.doc("hlo") as Doc];
  await soon(() => expect([doc.rows, target.rows]).not.toContain(null));
  const found = Array.from({ length: doc.info.lines }, (_, line) => ({ line, lit: documents.lit({ doc: kind, row: line, from: "" }) }));
  const linked = found.map(({ line, lit }) => ({ line, rows: lit && target.rows ? litRows(lit, target.rows) : [] }));
  return linked.findLast(({ rows }) => rows.length) as { line: number; rows: number[] };
}

const keys = () => $$(".jxs-kernel[data-kernel]").map((row) => row.dataset.kernel);
const row = (name: string) => $(`[data-kernel="${name}"]`);

describe("the machine code view", () => {
  it("opens at the first kernel that has code", async () => {
    const without = { ...KERNELS[0], key: "callback", lacks: { ptx: "it calls Python", sass: "it calls Python" } };
    await open({ kernels: [without, ...KERNELS] });
    await soon(() => expect(kernel.asked.filter((one) => one.startsWith("kernel "))).toEqual(["kernel ptx:dot_1", "kernel sass:dot_1"]));
    expect($(".jxs-sides")?.textContent).not.toContain("it calls Python");
  });

  it("lists kernels with what they take; spills are loud, the unknown is a question mark with its reason", async () => {
    await open();
    await soon(() => expect(row("tight")?.textContent).toContain("255"));
    expect(keys()).toEqual(["dot_1", "tight", "custom-call.1"]);
    expect($$(".jxs-alarm").map((cell) => cell.textContent)).toEqual(["96"]);
    expect(row("tight")?.textContent).toContain("fusion and 1 more");
    const unknown = row("custom-call.1")?.querySelector(".jxs-number") as HTMLElement;
    expect([unknown.textContent, unknown.title]).toEqual(["?", "a library does it"]);
    expect(row("custom-call.1")?.textContent).toContain("<b>lib</b>");
    expect($(".jxs-kernels > .jxs-note")?.textContent).toBe("a <i>note</i>");
  });

  it("is busy until the kernels are measured, or not", async () => {
    const isBusy = () => $(".jxs-kernel-rows")?.getAttribute("aria-busy");
    await open();
    await soon(() => expect(row("tight")?.textContent).toContain("255"));
    expect(isBusy()).toBe("false");
    unmount();
    kernel.answers.figures = () => reply({ pending: { elapsed: 1, progress: null } });
    unmount = mount(new Session(kernel), document.body);
    click($('[role="tab"][data-view="machine"]'));
    await soon(() => expect($(".jxs-kernels [role=status]")?.textContent).toContain("measuring"));
    expect(isBusy()).toBe("true");
  });

  it("shows two stages of the kernel side by side, or why one is missing", async () => {
    await open();
    await soon(() => expect($$(".jxs-side .jxs-pane").map((pane) => pane.dataset.doc)).toEqual(["ptx:dot_1", "sass:dot_1"]));
    click(row("tight"));
    await soon(() => expect($('[data-side="right"] .jxs-lack')?.textContent).toBe("needs nvdisasm: pip install x"));
    click($('[data-side="right"] [data-pick="ptx"]'));
    await soon(() => expect($$(".jxs-side .jxs-pane").map((pane) => pane.dataset.doc)).toEqual(["ptx:tight", "ptx:tight"]));
  });

  it("an HLO line selected elsewhere chooses its kernel; lines offer the kernels that came from them", async () => {
    await open();
    session.selection.select("hlo", 9, "");
    await soon(() => expect(row("tight")?.classList.contains("jxs-current")).toBe(true));
    expect($(".jxs-from")?.textContent).toContain("from the selection");
  });

  it.each(["python", "jaxpr", "stablehlo"])("a line pinned in %s opens its own kernel, not the first", async (doc) => {
    const { line, rows } = await lineWithHlo(doc);
    const own = { ...KERNELS[0], key: "own", rows: [[rows[0] as number, rows[0] as number]] };
    const mixed = { ...KERNELS[0], key: "mixed", rows: [[0, Math.max(...rows)]] };
    await open({ kernels: [{ ...KERNELS[0], key: "another", rows: [] }, mixed, own] });
    expect(row("another")?.classList.contains("jxs-current")).toBe(true);
    session.selection.select(doc, line, "");
    await soon(() => expect(row("own")?.classList.contains("jxs-current")).toBe(true));
    expect(session.selection.get().selected, "the pinned line stays").toMatchObject({ doc, row: line });
  });

  it("sorts by a measure, unknown last either way, and filters by words", async () => {
    await open();
    await soon(() => expect(row("tight")?.textContent).toContain("255"));
    click($('[data-sort="registers"]'));
    await soon(() => expect(keys()).toEqual(["tight", "dot_1", "custom-call.1"]));
    click($('[data-sort="registers"]'));
    await soon(() => expect(keys()).toEqual(["dot_1", "tight", "custom-call.1"]));
    const box = $(".jxs-kernels input") as HTMLInputElement;
    box.value = "fusion.1";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect(keys()).toEqual(["tight"]));
  });

  it("asks before libtpu dumps bundles", async () => {
    const stages = [{ name: "mosaic", title: "Mosaic" }, { name: "bundles", title: "VLIW bundles" }];
    const kernels = [{ ...KERNELS[0], lacks: { mosaic: "not a Pallas kernel" } }];
    await open({ platform: "tpu", stages, kernels });
    await soon(() => expect($('[data-side="right"]')?.textContent).toContain("Experimental"));
    expect(kernel.asked.filter((asked) => asked.startsWith("kernel "))).toEqual([]);
    click($('[data-side="right"] .jxs-look button'));
    await soon(() => expect(kernel.asked).toContain("kernel bundles:dot_1"));
  });

  it("says that a program runs no kernels", async () => {
    await open({ kernels: [] });
    expect($(".jxs-lack")?.textContent).toContain("computes nothing");
  });
});

describe("what the kernel sends", () => {
  it("is read with care", () => {
    const table = readKernels(reply({ kernels: [null, 3, { key: 5 }, { key: "k", rows: [["x", -1], 7], lacks: [1] }] }));
    expect(table.kernels.map(({ key, rows }) => [key, rows])).toEqual([["k", [[0, 0], [0, 0]]]]);
    expect(readFigures(reply({ figures: { k: { registers: "many", spills: -1, stack: 8 } } })).get("k")).toMatchObject({
      registers: null,
      spills: null,
      stack: 8,
    });
  });

  it("finds the smallest kernel around a row, and sorts without figures", () => {
    const table = readKernels(reply({ platform: "cuda", kernels: KERNELS }));
    const { kernels } = table;
    expect(kernelAt(kernels, 3)?.key).toBe("dot_1");
    expect(kernelAt(kernels, 50)).toBeNull();
    expect([...sorted(gridOf(table, null), Uint32Array.of(0, 1, 2), { field: "spills", down: true })]).toEqual([0, 1, 2]);
  });
});
