// @vitest-environment happy-dom
import { type FunctionComponent, render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import CollectivesView from "../../src/tabs/collectives/view";
import DtypesView from "../../src/tabs/dtypes/view";
import ShardingsView from "../../src/tabs/shardings/view";
import { openTab } from "../../src/shell/tabBar";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { COLLECTIVES, DTYPES, MAP, PLACES, VALUES, table } from "./shardingReplies";
import { within } from "../within";

let kernel: FakeKernel;
let session: Session;

async function open(View: FunctionComponent, wait = ".jxs-grid-row[data-row]"): Promise<void> {
  session = new Session(kernel);
  session.documents.doc("python");
  await soon(() => expect(session.documents.sourceRow(0, 16)).toBe(3));
  render(within(session, <View />), document.body);
  await soon(() => expect($(wait)).not.toBeNull());
}

beforeEach(() => {
  kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "shardings", "collectives", "dtypes"] }] });
  kernel.answers = { shardings: () => VALUES, sharding_map: () => MAP, collectives: () => COLLECTIVES, dtypes: () => DTYPES };
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});
afterEach(() => {
  render(null, document.body);
  vi.restoreAllMocks();
});

const cells = () => $$(".jxs-map-cell");
const tip = () => $(".jxs-map-tip")?.textContent;
const point = (cell: Element | undefined) => cell?.dispatchEvent(new MouseEvent("pointerenter"));

describe("the shardings", () => {
  it("list the values and draw the first: who holds what, how much, who chose it", async () => {
    await open(ShardingsView, ".jxs-map-cell");
    expect($(".jxs-shardings-head")?.textContent).toContain("8 devices of 2 processes mesh data=4, model=2");
    expect($$(".jxs-map-process").map((band) => band.textContent)).toEqual(["process 0", "process 1"]);
    expect($$(".jxs-map-where").length).toBe(0);
    expect($$(".jxs-map-host-above").map((cell) => cell.dataset.device)).toEqual(["4", "5"]);
    expect(cells().map((cell) => cell.dataset.part)).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
    const facts = $(".jxs-map-facts")?.textContent;
    expect(facts).toContain("given by you");
    expect(facts).toContain("f32[7,2] · 4 shards of f32[2,2], each on 2 devices · 16 B per device · f32[4,2] (process 0), f32[3,2] (process 1) per process");
    expect(facts).toContain("uneven: 13% of the memory is padding");
    expect($$(".jxs-map-uneven").map((cell) => cell.dataset.device)).toEqual(["6", "7"]);
    expect($("b b")).toBeNull();
  });

  it("tell by pointer and by arrows what a device holds, and mark those that hold the same", async () => {
    await open(ShardingsView, ".jxs-map-cell");
    point(cells()[2]);
    await soon(() => expect(tip()).toBe("device 2 at (0, 1, 0) of process 0: w[2:4, 0:2]"));
    expect($$(".jxs-map-same").map((cell) => cell.dataset.device)).toEqual(["2", "3"]);
    key($(".jxs-map-grid"), "ArrowDown");
    await soon(() => expect(tip()).toContain("device 4 at (0, 0, 1) of process 1"));
    key($(".jxs-map-grid"), "ArrowUp");
    key($(".jxs-map-grid"), "ArrowRight");
    await soon(() => expect(tip()).toContain("device 3"));
  });

  it("are drawn on the torus, with a slider for the third axis", async () => {
    await open(ShardingsView, ".jxs-map-cell");
    click($('[data-chart="torus"]'));
    await soon(() => expect(cells().map((cell) => cell.dataset.device)).toEqual(["0", "2", "1", "3"]));
    const slider = $('[data-axis="z"]') as HTMLInputElement;
    slider.value = "1";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect(cells().map((cell) => cell.dataset.device)).toEqual(["4", "6", "5", "7"]));
  });

  it("select the source line of a value, and follow what is selected elsewhere", async () => {
    await open(ShardingsView, ".jxs-map-cell");
    click($('[data-row="2"]'));
    await soon(() => expect(session.selection.get().selected).toMatchObject({ doc: "python", from: "shardings" }));
    session.selection.select("python", session.documents.sourceRow(0, 16), "code");
    await soon(() => expect($('[data-row="0"]')?.classList.contains("jxs-current")).toBe(true));
    expect(kernel.asked.filter((one) => one === "sharding_map").length).toBeGreaterThan(1);
  });

  it("ask for those in between when someone wants them", async () => {
    const asked: Params[] = [];
    kernel.answers.shardings = (params) => (asked.push(params), VALUES);
    await open(ShardingsView, ".jxs-map-cell");
    click($$("button").find((one) => one.textContent === "Show intermediates"));
    await soon(() => expect(asked.map((one) => one.all)).toEqual([false, true]));
  });

  it("that are not known say why", async () => {
    kernel.answers.sharding_map = () => ({ result: { name: "w", problem: "the encoding 'strange' was never seen" }, buffers: [] });
    await open(ShardingsView, ".jxs-map .jxs-note");
    expect($(".jxs-map .jxs-note")?.textContent).toBe("Which device holds what is unknown: the encoding 'strange' was never seen.");
    expect(cells()).toEqual([]);
  });

  it("of a refused call come first, with what is wrong", async () => {
    const notes = ["x: dimension 0 of size 7 does not divide into 4 parts"];
    kernel.answers.shardings = () => ({ ...VALUES, result: { ...VALUES.result, places: PLACES, notes } });
    await open(ShardingsView, ".jxs-caption");
    expect($(".jxs-caption")?.textContent).toBe(notes[0]);
    const call = { ...fixture[0]?.summary, views: ["code", "shardings", "options"], open: "shardings" };
    const failed = readState({ calls: [{ ...call, error: { stage: "trace", type: "ValueError", message: "" } }] }).calls[0] ?? null;
    expect(openTab(failed, "")).toBe("shardings");
    expect(openTab(failed, "code")).toBe("code");
  });
});

describe("the collectives", () => {
  it("are headed by the costliest, warnings before all", async () => {
    await open(CollectivesView);
    expect($(".jxs-headline")?.textContent).toContain("The costliest of 2 collectives: all-reduce");
    expect($(".jxs-caution")?.textContent).toBe("Involuntary full rematerialisation show the line");
    expect($(".jxs-facts-list")?.textContent).toContain("{0,2} {1,3}");
    expect($(".jxs-facts-list")?.textContent).toContain("meanwhilenothing");
  });

  it("are there before the compiler has said what caused them", async () => {
    let isDone = false;
    const quick = table({ collective: ["all-reduce"], time: [1e-6] }, { headline: "One collective: all-reduce." }, { time: "s" });
    kernel.answers.collectives = ({ quick: isQuick }) => {
      if (isQuick) return quick;
      if (isDone) return COLLECTIVES;
      return { result: { pending: { elapsed: 1, progress: "compiling as far as the partitioner" } }, buffers: [] };
    };
    await open(CollectivesView);
    expect($$(".jxs-grid-row[data-row]").length).toBe(1);
    expect($(".jxs-look")?.textContent).toContain("Recompiling to find what caused them");
    isDone = true;
    await soon(() => expect($$(".jxs-grid-row[data-row]").length).toBe(2));
    expect($(".jxs-look")).toBeNull();
  });

  it("say what is unknown and why, and select their instruction", async () => {
    await open(CollectivesView);
    click($('[data-row="1"]'));
    await soon(() => expect($(".jxs-facts-list")?.textContent).toContain("unknown: the bandwidth between hosts is not known"));
    expect($(".jxs-facts-list")?.textContent).toContain("meanwhilefusion.1");
    click($('[data-row="0"]'));
    await soon(() => expect(session.selection.get().selected).toEqual({ doc: "hlo", row: 107, from: "collectives" }));
    key($(".jxs-grid"), "Enter");
    expect(session.selection.get()).toMatchObject({ view: "code", active: "python" });
  });

  it("are none, and that is said", async () => {
    const none: Reply = table({ collective: [] }, { headline: "The 8 devices of this program exchange nothing." });
    kernel.answers.collectives = () => none;
    await open(CollectivesView, ".jxs-note");
    expect($(".jxs-note")?.textContent).toBe("The 8 devices of this program exchange nothing.");
    expect($(".jxs-grid")).toBeNull();
  });
});

describe("the dtypes", () => {
  it("select the line that changes one, or the instruction that the compiler added", async () => {
    await open(DtypesView);
    expect($(".jxs-headline")?.textContent).toContain("promotes 1 value");
    click($('[data-row="0"]'));
    await soon(() => expect(session.selection.get().selected).toMatchObject({ doc: "python", from: "dtypes" }));
    click($('[data-row="1"]'));
    await soon(() => expect(session.selection.get().selected).toMatchObject({ doc: "hlo", row: 115 }));
  });
});
