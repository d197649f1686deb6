// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readCosts, readOverview } from "../../src/tabs/cost/read";
import { cellText } from "../../src/parts/grid/sort";
import type { Field } from "../../src/wire/tables";
import { Session } from "../../src/model/session";
import { axesOf, readRoofline, toX, toY } from "../../src/tabs/cost/roofline";
import { readState } from "../../src/wire/state";
import CostView from "../../src/tabs/cost/view";
import { EQUATIONS, EQUATION_LINES, INSTRUCTIONS, LEDGER, LINES, MEMBERS, PARTS, ROOFLINE } from "./costReplies";
import { packed } from "./tableReply";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { within } from "../within";

let kernel: FakeKernel;
let session: Session;
let place: HTMLElement;

async function open(): Promise<void> {
  session = new Session(kernel);
  session.documents.doc("python");
  render(within(session, <CostView />), place);
  await soon(() => expect($(".jxs-grid-row[data-row]")).not.toBeNull());
}

beforeEach(() => {
  kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "cost"] }] });
  kernel.answers = { ledger: () => LEDGER, cost: () => INSTRUCTIONS, cost_parts: () => PARTS, cost_groups: () => LINES, roofline: () => ROOFLINE };
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
  place = document.body.appendChild(document.createElement("div"));
});
afterEach(() => {
  render(null, place);
  place.remove();
  vi.restoreAllMocks();
});

const texts = (column: number) => $$(".jxs-grid-row[data-row]").map((row) => row.children[column]?.textContent);
const column = (name: string) => $$(".jxs-grid-head > *").findIndex((head) => head.querySelector(`[data-sort="${name}"]`));
const instructions = async () => {
  click($('[data-group="instruction"]'));
  await soon(() => expect(texts(0)).toContain("dot.1"));
};

describe("the cost view", () => {
  it("says what bounds the program, the totals, and how much is unknown", async () => {
    await open();
    expect($(".jxs-verdict")?.textContent).toContain("Bound by memory");
    expect($(".jxs-cost-head")?.dataset.bound).toBe("memory");
    expect($(".jxs-cost-totals")?.textContent).toContain("at least 133 kFLOP");
    expect($(".jxs-cost-unknown")?.textContent).toBe("FLOPs unknown for 1 of 3 instructions, which move 13% of the bytes");
    expect($(".jxs-shares")?.getAttribute("aria-label")).toBe("share of the lower bound: memory 75%, compute 25%");
  });

  it("shows a range where a loop or a branch leaves the work open, and says which", async () => {
    const open_ = { flops_text: "268 MFLOP to 537 MFLOP", bytes_text: "2.1 MB", open: "the conditional at In [2]:6 runs branch 0 or branch 1" };
    kernel.answers.ledger = () => ({ ...LEDGER, result: { ...LEDGER.result, ...open_ } });
    await open();
    expect($(".jxs-cost-totals")?.textContent).toContain("268 MFLOP to 537 MFLOP");
    expect($(".jxs-cost-totals")?.textContent).toContain("the conditional at In [2]:6 runs branch 0 or branch 1");
  });

  it("begins with the totals by line, the most bytes first; a part that is unknown is said", async () => {
    await open();
    expect(texts(0)).toEqual(["In [5]:4", "unknown"]);
    expect(texts(column("FLOPs"))).toEqual(["≥ 133 kFLOP", "unknown: no member's FLOPs are known"]);
    expect(kernel.asked).not.toContain("cost");
  });

  it("lists the instructions: sorted, filtered, the unknown last and with its reason", async () => {
    await open();
    await instructions();
    expect(texts(0)).toEqual(["tanh_fusion", "custom-call.7", "dot.1"]);
    click($('[data-sort="FLOPs"]'));
    await soon(() => expect(texts(0)).toEqual(["dot.1", "tanh_fusion", "custom-call.7"]));
    click($('[data-sort="FLOPs"]'));
    await soon(() => expect(texts(0)).toEqual(["tanh_fusion", "dot.1", "custom-call.7"]));
    expect(texts(column("FLOPs"))[2]).toBe("unknown: a custom call without an estimate");
    const box = $(".jxs-cost-bar input") as HTMLInputElement;
    box.value = "jvp fusion";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect(texts(0)).toEqual(["tanh_fusion"]));
  });

  it("selects an instruction everywhere by a click or the arrows; Enter opens the code", async () => {
    await open();
    await instructions();
    click($('[data-row="2"]'));
    await soon(() => expect(session.selection.get().selected).toEqual({ doc: "hlo", row: 115, from: "cost" }));
    await soon(() => expect($('[data-row="2"]')?.getAttribute("aria-selected")).toBe("true"));
    key($(".jxs-grid"), "Home");
    await soon(() => expect(session.selection.get().selected?.row).toBe(107));
    await soon(() => expect($('[data-row="0"]')?.classList.contains("jxs-current")).toBe(true));
    key($(".jxs-grid"), "Enter");
    expect(session.selection.get()).toMatchObject({ view: "code", active: "hlo", selected: { doc: "hlo", row: 107 } });
  });

  it("shows what is inside a fusion when that is asked for, and a member selects its line", async () => {
    kernel.answers.members = () => MEMBERS;
    await open();
    await instructions();
    expect($(".jxs-members-toggle")).toBeNull();
    click($('[data-row="0"]'));
    await soon(() => expect($(".jxs-members-toggle")?.textContent).toBe("▸ Show what is inside tanh_fusion"));
    expect(kernel.asked).not.toContain("members");
    click($(".jxs-members-toggle"));
    await soon(() => expect($('[aria-label="members of tanh_fusion"] [data-row="2"]')).not.toBeNull());
    expect($(".jxs-members-toggle")?.getAttribute("aria-expanded")).toBe("true");
    click($('[aria-label="members of tanh_fusion"] [data-row="2"]'));
    await soon(() => expect(session.selection.get().selected?.row).toBe(115));
    click($('.jxs-grid [data-row="2"]'));
    await soon(() => expect($(".jxs-members")).toBeNull());
  });

  it("counts on the jaxpr too; an equation selects its line of the jaxpr", async () => {
    kernel.answers.equations = () => EQUATIONS;
    kernel.answers.equation_groups = () => EQUATION_LINES;
    await open();
    click($('[data-source="jaxpr"]'));
    await soon(() => expect($('[data-group="equation"]')).not.toBeNull());
    expect($('[data-group="instruction"]')).toBeNull();
    click($('[data-group="equation"]'));
    await soon(() => expect(texts(0)).toEqual(["dot_general", "mul", "eigh"]));
    expect(texts(column("FLOPs"))).toEqual(["10 kFLOP", "≥ 4 FLOP", "unknown: eigh has no formula"]);
    expect($(".jxs-cost-table .jxs-note")?.textContent).toBe("1 equation is <i>in</i> a loop of unknown length.");
    click($('[data-row="1"]'));
    await soon(() => expect(session.selection.get().selected).toEqual({ doc: "jaxpr", row: 7, from: "cost" }));
  });

  it("of a program that was not compiled it counts the jaxpr alone", async () => {
    const call = fixture[0]!.summary;
    const documents = call.documents.filter(({ kind }) => kind !== "hlo");
    kernel.now = readState({ calls: [{ ...call, documents, views: ["code", "cost"] }] });
    kernel.answers.equation_groups = () => EQUATION_LINES;
    await open();
    expect($(".jxs-verdict")?.textContent).toContain("there is no optimised HLO");
    expect($('[data-source="hlo"]')).toBeNull();
    expect($('[data-section="roofline"]')).toBeNull();
    expect(kernel.asked).not.toContain("ledger");
  });

  it("one that the text leaves out is said to be", async () => {
    await open();
    await instructions();
    click($('[data-row="1"]'));
    await soon(() => expect(session.selection.get().message).toContain("not in the text"));
    expect(session.selection.get().selected).toBeNull();
  });

  it("a line selects its source; what is selected elsewhere is marked here", async () => {
    await open();
    await soon(() => expect(session.documents.loaded("hlo")?.rows && session.documents.loaded("python")?.rows).toBeTruthy());
    click($('[data-row="0"]'));
    const { selected } = session.selection.get();
    expect(selected?.doc).toBe("python");
    expect(session.documents.loaded("python")?.text?.line(selected?.row ?? 0)).toContain("jnp.tanh(x @ w)");
    await instructions();
    session.selection.select("hlo", 115, "");
    await soon(() => expect($(".jxs-current")?.textContent).toContain("dot.1"));
  });

  it("the ledger shows the numbers side by side, the reasons, and no column for what was not measured", async () => {
    await open();
    click($('[data-section="ledger"]'));
    await soon(() => expect($(".jxs-ledger")).not.toBeNull());
    expect($$(".jxs-ledger thead th").map((th) => th.textContent)).toEqual(["counted on", "jaxpr", "HLO", "XLA"]);
    expect($$(".jxs-ledger tbody tr:first-child td").map((td) => td.textContent)).toEqual(["200 kFLOP", "133 kFLOP", "unknown: XLA <i>cannot</i>"]);
    expect($(".jxs-ledger ul")?.textContent).toContain("the body of a loop once");
    expect($(".jxs-ledger i")).toBeNull();
  });

  it("a point of the roofline is found by the pointer and the arrows, and selects its instruction", async () => {
    await open();
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
    click($('[data-section="roofline"]'));
    await soon(() => expect($(".jxs-chart canvas")).not.toBeNull());
    const canvas = $(".jxs-chart canvas") as HTMLElement;
    const axes = axesOf(await readRoofline(ROOFLINE), 1400, 400);
    click(canvas, { clientX: toX(axes, 25), clientY: toY(axes, 100) });
    await soon(() => expect(session.selection.get().selected).toEqual({ doc: "hlo", row: 115, from: "cost" }));
    await soon(() => expect($(".jxs-tip")?.textContent).toContain("dot.1In [5]:21 kFLOP, 400 B, 25 FLOP/Bat least 10 s, bound by compute"));
    key(canvas, "ArrowRight");
    await soon(() => expect($(".jxs-tip")?.textContent).toContain("add.1source unknown"));
    expect(session.selection.get().selected?.row).toBe(107);
    key(canvas, "Enter");
    expect(session.selection.get().view).toBe("code");
    expect($(".jxs-legend")?.textContent).toContain("Not on the chart: 1");
  });

  it("without a roof it says what to do", async () => {
    kernel.answers.roofline = () => packed({}, { device: "this kernel's cpu", peaks: {}, bandwidth: null, notes: [] });
    await open();
    click($('[data-section="roofline"]'));
    await soon(() => expect($(".jxs-note")?.textContent).toContain("No peak rates on file for this kernel's cpu, so there is no roofline. Compile for"));
    expect($("canvas")).toBeNull();
  });

  it("tiles nest by scope, and by the lines that call each other; a click selects and goes inside", async () => {
    await open();
    click($('[data-section="icicle"]'));
    await soon(() => expect($(".jxs-icicle canvas")?.getAttribute("aria-label")).toContain("bytes as nested tiles, 6 of them"));
    const canvas = $(".jxs-icicle canvas") as HTMLElement;
    click(canvas, { clientX: 10, clientY: 30 });
    await soon(() => expect($(".jxs-tip")?.textContent).toBe("jit(f)45.1 kB, 100% of all bytes"));
    expect(session.selection.get().selected?.row).toBe(107);
    await soon(() => expect($(".jxs-legend")?.textContent).toBe("Whole programjit(f)"));
    key(canvas, "Escape");
    await soon(() => expect($(".jxs-legend")).toBeNull());
    click($('[data-choice="FLOPs"]'));
    await soon(() => expect($(".jxs-cost-bar .jxs-cost-unknown")?.textContent).toBe("1 instruction with unknown FLOPs is not drawn"));
    click($('[data-choice="line"]'));
    await soon(() => expect($('[data-choice="line"]')?.getAttribute("aria-pressed")).toBe("true"));
    key($(".jxs-icicle canvas"), "ArrowDown");
    await soon(() => expect($(".jxs-tip")?.textContent).toContain("all FLOPs"));
    key($(".jxs-icicle canvas"), "ArrowDown");
    await soon(() => expect(session.selection.get().selected?.doc).toBe("python"));
  });

  it("draws no more rows than are in sight", async () => {
    const n = 20_000;
    const names = [...Array(n).keys()].map((i) => `fusion.${i}`);
    const title = (name: string, unit: string) => ({ title: name, hint: "", unit });
    kernel.answers.cost = () =>
      packed({ instruction: ["text", names, title("instruction", "")], FLOPs: ["f8", Array(n).fill(0), title("FLOPs", "FLOP")], bytes: ["f8", Array(n).fill(0), title("bytes", "B")] });
    await open();
    click($('[data-group="instruction"]'));
    await soon(() => expect(texts(0)).toContain("fusion.0"));
    expect($$(".jxs-grid-row[data-row]").length).toBeLessThan(60);
    expect($(".jxs-grid")?.getAttribute("aria-rowcount")).toBe(String(n + 1));
    key($(".jxs-grid"), "End");
    await soon(() => expect(texts(0)).toContain(`fusion.${n - 1}`));
  });

  it("says why nothing can be counted", async () => {
    kernel.answers.ledger = () => {
      throw new Error("f has no optimised HLO to count");
    };
    render(within(new Session(kernel), <CostView />), place);
    await soon(() => expect($(".jxs-look-text")?.textContent).toBe("f has no optimised HLO to count"));
  });
});

describe("what the kernel sends", () => {
  it("is read with care", async () => {
    const nothing = { result: {}, buffers: [] };
    expect(readOverview(nothing)).toMatchObject({ bound: "unknown", flopsText: "", rows: [], columns: [] });
    await expect(readCosts(nothing)).rejects.toThrow("Another version of JAXStage saved this table; run the cell to see it.");
    const half = await readCosts({ result: { columns: [{ name: "FLOPs", title: "FLOPs", dtype: "f8" }] }, buffers: [] });
    expect([half.grid.length, cellText(half.grid.fields[0] as Field, 1), [...half.row]]).toEqual([0, "unknown", []]);
  });
});
