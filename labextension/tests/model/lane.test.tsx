// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newLayout } from "../../src/model/layout";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { TABS } from "jaxstage:tabs";
import { packed } from "../tabs/tableReply";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

const MARKS = [
  ["data,·", "you", "P('data', None): your choice\n<i>f32[16,32] a device</i>"],
  ["·,data", "compiler", "P(None, 'data'): the compiler's choice"],
  ["3 arguments", "", "x, w1, w2"],
];
const lane = (): Reply =>
  packed({ "python row": ["i4", [2]], "python mark": ["i4", [1]], "hlo row": ["i4", [106, 107, 115]], "hlo mark": ["i4", [0, 1, 2]] }, { marks: MARKS, notes: [] });
const DTYPES = [["bf16→f32 +4.1 kB", "promotion", "bf16 → f32"], ["f32→bf16", "demotion compiler", "f32 → bf16"]];
const WARNINGS = [
  { kind: "rematerialisation", text: "Involuntary full rematerialisation\nDo this.", places: [["python", 3], ["hlo", 106]] },
  { kind: "resharding", text: "Resharding: x for dot.\nDo that.", places: [["hlo", 107]] },
  { kind: "asked", text: "Resharding: y.", places: [] },
];
const warnings = (found: unknown[] = WARNINGS): Reply =>
  packed(
    { "python row": ["i4", [3]], "python mark": ["i4", [0]], "hlo row": ["i4", [106, 107]], "hlo mark": ["i4", [0, 1]] },
    { marks: [["", "rematerialisation", "Involuntary.\nDo this."], ["", "resharding", "Resharding."]], warnings: found, total: found.length },
  );

let kernel: FakeKernel;
let session: Session;
let unmount: () => void;

async function open(views = ["code", "cost", "shardings", "collectives", "dtypes"]): Promise<void> {
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views }] });
  session = new Session(kernel);
  unmount = mount(session, document.body, newLayout({ panes: ["python", "hlo"] }));
  await soon(() => expect($$('[data-ready="true"]').length).toBe(2));
}

beforeEach(() => {
  kernel = new FakeKernel();
  kernel.answers.exchanges = () => ({ result: { collectives: 2, known: false }, buffers: [] });
  kernel.answers.lane = ({ lane: name }: Params) =>
    name === "sharding" ? lane() : packed({ "hlo row": ["i4", [106, 107]], "hlo mark": ["i4", [0, 1]] }, { marks: DTYPES, notes: [] });
  kernel.answers.warnings = () => warnings();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(4000);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

const row = (doc: string, at: number) => $(`[data-doc="${doc}"] .jxs-rows [data-row="${at}"]`);
const mark = (doc: string, at: number) => row(doc, at)?.querySelector<HTMLElement>(".jxs-lane");
const choose = (name: string) => {
  const box = $(".jxs-heat-picker select") as HTMLSelectElement;
  box.value = name;
  box.dispatchEvent(new Event("change", { bubbles: true }));
};
const offered = () => [...($(".jxs-heat-picker select") as HTMLSelectElement).options].map((one) => one.value);

describe("beside the lines", () => {
  it("nothing stands until it is chosen, and the kernel is asked for nothing", async () => {
    await open();
    expect(offered()).toEqual(["", "FLOPs", "bytes", "sharding", "dtypes"]);
    expect($$(".jxs-lane")).toEqual([]);
    expect(kernel.asked).not.toContain("lane");
    expect(kernel.asked).not.toContain("warnings");
  });

  it("a profiled call has measured times", async () => {
    await open(["code", "timeline"]);
    expect(offered()).toEqual(["", "time"]);
  });

  it("a call on one device has no shardings to choose", async () => {
    await open(["code", "dtypes"]);
    expect(offered()).toEqual(["", "dtypes"]);
    expect($(".jxs-warned, .jxs-fact .jxs-link")).toBeNull();
  });

  it("stands the sharding of each value; who chose it is told by a sign; all of it is on hover, as text", async () => {
    await open();
    choose("sharding");
    await soon(() => expect(mark("hlo", 106)?.textContent).toBe("■ data,·"));
    expect(mark("hlo", 107)?.textContent).toBe("□ ·,data");
    expect(mark("hlo", 115)?.textContent).toBe("◧ 3 arguments");
    expect(mark("hlo", 101)?.textContent).toBe("");
    expect(mark("hlo", 106)?.title).toBe("P('data', None): your choice\n<i>f32[16,32] a device</i>");
    expect(mark("python", 2)?.textContent).toBe("□ ·,data");
    expect(mark("hlo", 101)?.style.width).toBe(mark("hlo", 106)?.style.width);
  });

  it("stands what changes dtype; a document that has none keeps no room for it", async () => {
    await open();
    choose("dtypes");
    await soon(() => expect(mark("hlo", 106)?.textContent).toBe("▲ bf16→f32 +4.1 kB"));
    expect(mark("hlo", 107)?.textContent).toBe("▽ f32→bf16");
    expect(mark("python", 2)).toBeNull();
    choose("");
    await soon(() => expect($$(".jxs-lane")).toEqual([]));
  });

  it("is read in the strip below when its line is selected", async () => {
    await open();
    choose("sharding");
    await soon(() => expect(mark("hlo", 106)).not.toBeNull());
    session.selection.select("hlo", 106);
    await soon(() => expect($(".jxs-beside")?.textContent).toContain("<i>f32[16,32] a device</i>"));
  });

  it("says why there is none, and tries again", async () => {
    await open();
    kernel.answers.lane = () => {
      throw new Error("the compile worker died");
    };
    choose("sharding");
    await soon(() => expect($(".jxs-heat-picker [role=alert]")?.textContent).toBe("the compile worker died"));
    kernel.answers.lane = lane;
    click($(".jxs-heat-picker button"));
    await soon(() => expect(mark("hlo", 106)?.textContent).toBe("■ data,·"));
  });

  it("what is not as it must be is left out", async () => {
    await open();
    kernel.answers.lane = () => packed({ "hlo row": ["i4", [106, 107]], "hlo mark": ["i4", [5, 0]] }, { marks: [7], notes: null });
    choose("sharding");
    await soon(() => expect(mark("hlo", 107)?.textContent).toBe("◧ "));
    expect(mark("hlo", 106)?.textContent).toBe("");
  });
});

const button = () => $(".jxs-warned");
const check = () => $(".jxs-fact .jxs-link");

describe("warnings at the lines", () => {
  it("are asked for by a button, counted in the head, and stand at their lines", async () => {
    await open();
    await soon(() => expect(check()?.textContent).toBe("check for resharding"));
    click(check());
    await soon(() => expect(button()?.textContent).toBe("⚠ 1 full rematerialisation, 1 resharding, 1 requested"));
    await soon(() => expect(row("hlo", 106)?.querySelector(".jxs-warning")?.textContent).toBe("⚠"));
    expect(row("hlo", 106)?.querySelector(".jxs-warning")?.getAttribute("aria-label")).toContain("Do this.");
    expect(row("python", 3)?.querySelector<HTMLElement>(".jxs-warning")?.title).toBe("Involuntary.\nDo this.");
    expect(row("hlo", 101)?.querySelector(".jxs-warning")?.textContent).toBe("");
    expect($$('[data-doc="hlo"] .jxs-mark-warning').length).toBeGreaterThan(0);
    expect($$('[data-doc="jaxpr"] .jxs-mark-warning').length).toBe(0);
  });

  it("the button and w go to the next of them, and round", async () => {
    await open();
    await soon(() => expect(check()).not.toBeNull());
    click(check());
    await soon(() => expect(button()).not.toBeNull());
    click(button());
    expect(session.selection.get().selected).toMatchObject({ doc: "python", row: 3 });
    expect(session.selection.get().message).toBe("1 of 2: Involuntary full rematerialisation");
    await soon(() => expect($(".jxs-beside-warning")?.textContent).toBe("Involuntary.\nDo this."));
    key($(".jxs-code"), "w");
    expect(session.selection.get().selected).toMatchObject({ doc: "hlo", row: 107 });
    key($(".jxs-code"), "w");
    expect(session.selection.get().selected).toMatchObject({ doc: "python", row: 3 });
  });

  it("the button works as soon as it is there", async () => {
    await open();
    await soon(() => expect(check()).not.toBeNull());
    let said: unknown;
    const watch = new MutationObserver(() => {
      if (said === undefined && button()) {
        click(button());
        said = session.selection.get().selected;
      }
    });
    watch.observe(document.body, { childList: true, subtree: true });
    click(check());
    await soon(() => expect(said).toMatchObject({ doc: "python", row: 3 }));
    watch.disconnect();
  });

  it("are there by themselves once another look has asked the compiler", async () => {
    kernel.answers.exchanges = () => ({ result: { collectives: 2, known: true }, buffers: [] });
    await open();
    await soon(() => expect(button()).not.toBeNull());
    unmount();
    kernel.answers.exchanges = () => ({ result: { collectives: 2, known: false }, buffers: [] });
    await open();
    await soon(() => expect(check()).not.toBeNull());
    choose("sharding");
    await soon(() => expect(button()).not.toBeNull());
    unmount();
    TABS.answers = { title: "Answers", hint: "", component: () => <p /> };
    await open(["code", "collectives", "answers"]);
    session.selection.set({ view: "answers" });
    await soon(() => expect($(".jxs-panes")).toBeNull());
    expect(button()).toBeNull();
    session.selection.set({ view: "code" });
    await soon(() => expect(button()).not.toBeNull());
  });

  it("none is said to be none; a program that exchanges nothing says nothing", async () => {
    kernel.answers.warnings = () => warnings([]);
    await open();
    await soon(() => expect(check()).not.toBeNull());
    click(check());
    await soon(() => expect($(".jxs-facts")?.textContent).toContain("reshardingnone"));
    unmount();
    kernel.answers.exchanges = () => ({ result: { collectives: 0, known: false }, buffers: [] });
    await open();
    await soon(() => expect(kernel.asked.filter((one) => one === "exchanges").length).toBe(2));
    expect(check()).toBeNull();
  });
});
