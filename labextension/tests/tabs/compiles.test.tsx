// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TABS } from "jaxstage:tabs";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import CompilesView from "../../src/tabs/compiles/view";
import type { Reply } from "../../src/wire/source";
import { Refusal } from "../../src/wire/errors";
import { readState } from "../../src/wire/state";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { HOSTILE, causesReply, listReply, packed, recompileCause, recordReply } from "./compilesReplies";

const SUMMARY = { name: "Compiles of this kernel", signature: "Compiles of this kernel", views: ["compiles"], open: "compiles" };

let kernel: FakeKernel;
let session: Session;
let unmount: () => void;

async function open(answers: Record<string, () => Reply> = {}): Promise<void> {
  kernel.now = readState({ calls: [SUMMARY] });
  Object.assign(kernel.answers, { compiles: listReply, compiles_causes: causesReply, compile_record: ({ number }: { number: number }) => recordReply(number), ...answers });
  session = new Session(kernel, "panel");
  unmount = mount(session, document.body);
  await soon(() => expect($(".jxs-compiles")).not.toBeNull());
}

beforeEach(() => {
  TABS.compiles = { title: "compiles", hint: "", tall: true, component: CompilesView };
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1000);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

const rows = () => $$(".jxs-co-list [data-row]").map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? ""));
const functions = () => rows().map((cells) => cells[2]);
const toggle = (name: string) => click($(`[data-toggle="${name}"]`));
const caused = () => soon(() => expect($(".jxs-co-worst")).not.toBeNull());
const detail = () => $(".jxs-co-detail")?.textContent ?? "";

describe("the compiles of a kernel", () => {
  it("are headed by what to do first, and by what they took", async () => {
    await open();
    await caused();
    expect($(".jxs-co-verdict")?.textContent).toContain("step compiled again 2 times, 4 s in all; #5: x is f32[3], was f32[8]");
    expect($(".jxs-co-todo")?.textContent).toBe("Pad x.");
    expect($(".jxs-co-totals")?.textContent).toMatch(/spent 12.6 s.*avoidable 4 s.*for nothing 1 s.*persistent cache no hits.*8 records/);
  });

  it("have columns as wide as what they hold, and leave the rest to the cause", async () => {
    await open();
    await caused();
    const grid = $(".jxs-co-list .jxs-grid")?.style.getPropertyValue("--jxs-columns") ?? "";
    expect(grid.split(/ (?![^(]*\))/).filter((column) => column.includes("fr"))).toHaveLength(1);
    expect(rows().find((cells) => cells[0] === "3")?.at(-1)).toBe("miss, written");
  });

  it("stand in a list before their causes are known", async () => {
    await open({ compiles_causes: () => ({ result: { pending: { elapsed: 1, progress: "comparing 3 of 8 compiles" } }, buffers: [] }) });
    await soon(() => expect(rows().length).toBeGreaterThan(0));
    expect(rows()[1]?.[5]).toBe("…");
    expect($(".jxs-co-verdict")?.textContent).toBe("Finding the causes…");
    await soon(() => expect(document.body.textContent).toContain("comparing 3 of 8 compiles"));
  });

  it("fold the eager operations of a line, and unfold them", async () => {
    await open();
    await caused();
    expect(functions()).toEqual(["2 eager operations: add, iota", "step", "↳ inner", "step", "step", HOSTILE]);
    expect(rows()[0]?.[3]).toBe("100 ms");
    expect(rows()[0]?.[5]).toBe("operations that ran outside jax.jit");
    toggle("folded");
    await soon(() => expect(functions().slice(0, 2)).toEqual(["add", "iota"]));
  });

  it("are not opened or compared where nothing is kept, and say so", async () => {
    await open({ compile_record: (({ number }: { number: number }) => recordReply(number, { not_opened: "#3 is not kept" })) as never });
    await caused();
    const buttons = () => $$(".jxs-co-open button").map((button) => [button.textContent, (button as HTMLButtonElement).disabled]);
    await soon(() => expect(buttons()).toEqual([["Open", false], ["Compare with #3", true]]));
    expect($(".jxs-co-open")?.textContent).toContain("#3 is not kept");
  });

  it("are opened by Enter, and the way back is a button", async () => {
    await open({ compile_open: () => ({ result: { call: 1 }, buffers: [] }) });
    await caused();
    await soon(() => expect($(".jxs-co-open")).not.toBeNull());
    key($(".jxs-co-list .jxs-grid"), "Enter");
    await soon(() => expect(kernel.asked).toContain("compile_open"));
    kernel.push({ calls: [SUMMARY, { name: "step", signature: "step(x)", views: ["code"], documents: [] }] });
    await soon(() => expect(session.selection.call).toBe(1));
    click($$("button").find((button) => button.textContent === "‹ Compiles"));
    await soon(() => expect(session.selection.call).toBe(0));
  });

  it("are unfolded from the start where the magic asks for it", async () => {
    await open({ compiles: () => listReply({ unfolded: true }) });
    await soon(() => expect(functions().slice(0, 2)).toEqual(["add", "iota"]));
  });

  it("say so where not all were compared when they were saved", async () => {
    await open({ compiles_causes: () => causesReply({ totals: { spent: 12.6, wasted: 1, avoidable: 2, is_complete: false, saved: null, hits: 2 } }, 5) });
    await caused();
    expect($(".jxs-co-totals")?.textContent).toMatch(/avoidable ≥ 2 s.*for nothing ≥ 1 s.*2 hits, saving unknown/);
    expect(rows().at(-1)?.[5]).toBe("not compared when this was saved");
  });

  it("are chosen by whose they are, by what recompiled and by what can be avoided", async () => {
    await open();
    await caused();
    toggle("mine");
    await soon(() => expect(functions()).toContain("loss"));
    toggle("recompiles");
    await soon(() => expect(functions()).toEqual(["step", "step", HOSTILE]));
    toggle("mendable");
    await soon(() => expect(functions()).toEqual(["step", "step"]));
  });

  it("are all listed again after Escape in the filter box, which keeps the keyboard until it is empty", async () => {
    await open();
    await caused();
    const box = $('.jxs-co-bar input[type="search"]') as HTMLInputElement;
    const left = vi.fn();
    document.body.addEventListener("keydown", left);
    box.value = "no such function";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect(rows()).toHaveLength(0));
    key(box, "Escape");
    await soon(() => expect(rows()).toHaveLength(6));
    expect(box.value).toBe("");
    expect(left).not.toHaveBeenCalled();
    document.body.removeEventListener("keydown", left);
  });

  it("mark the line of the chosen one where it is open, until the list is gone", async () => {
    const file = { name: "In [3]", cell: "In [3]", cells: ["id"], crc: 7 };
    await open({ compile_place: () => ({ result: { file, line: 2 }, buffers: [] }) });
    await caused();
    expect(session.selection.get().outside, "nobody has chosen one").toBeNull();
    click($$(".jxs-co-list [data-row]")[1]);
    await soon(() => expect(session.selection.get().outside).toMatchObject({ line: 2, source: { cells: ["id"], crc: 7 } }));
    unmount();
    await soon(() => expect(session.selection.get().outside).toBeNull());
    unmount = mount(session, document.body);
  });

  it("begin at the top after they are sorted, whichever is chosen", async () => {
    await open();
    await caused();
    const body = $(".jxs-co-list .jxs-grid") as HTMLElement;
    body.scrollTop = 300;
    click($('.jxs-co-list [data-sort="number"]'));
    await soon(() => expect(body.scrollTop).toBe(0));
  });

  it("are filtered by any of their words", async () => {
    await open();
    await caused();
    const box = $('.jxs-co-bar input[type="search"]') as HTMLInputElement;
    box.value = "weak";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect(rows().map((cells) => cells[0])).toEqual(["6"]));
    box.value = "nowhere";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect($(".jxs-co-list")?.textContent).toContain("No matches."));
  });

  it("tell a stage that did not run from one whose end was not heard", async () => {
    await open();
    await caused();
    const byNumber = new Map(rows().map((cells) => [cells[0], cells]));
    expect(byNumber.get("6")?.[4]).toContain("unknown");
    expect(byNumber.get("7")?.[4]).toMatch(/^–/);
  });

  it("of a scope stand alone until the others are asked for", async () => {
    await open({ compiles: () => listReply({ scope: "In [3]" }) });
    await caused();
    expect(rows().map((cells) => cells[0])).toEqual(["5", "6"]);
    expect($(".jxs-co-totals")?.textContent).toContain("spent in In [3]");
    toggle("scope");
    await soon(() => expect(rows().length).toBe(6));
  });

  it("say that there are none, and whether the log is on", async () => {
    await open({ compiles: () => packed({ number: [] }, { length: 0, is_on: false, can_refresh: true }) });
    expect($(".jxs-compiles")?.textContent).toContain("The compile log is off");
  });

  it("have the seconds of each cause where a function has several", async () => {
    const other = recompileCause({ number: 6, times: 1, seconds: 0.5, why: "x is weak", advice: "" });
    await open({
      compiles_causes: () =>
        causesReply({ headline: { number: 5, function: "step", times: 5, loaded: 0, seconds: 5, mendable: true, causes: [recompileCause({ seconds: 4.25 }), other], causes_in_all: 3 } }),
    });
    await caused();
    const said = $$(".jxs-co-worst .jxs-co-verdict").map((part) => part.textContent);
    expect(said).toEqual(["step compiled again 5 times, 5 s in all; 3 causes:", "4.25 s; #5: x is f32[3], was f32[8]", "500 ms; #6: x is weak", "250 ms: 1 more cause"]);
    expect($$(".jxs-co-todo").map((part) => part.textContent)).toEqual(["Pad x."]);
  });

  it.each([
    [2, "step loaded from the persistent cache 2 times, 4 s in all; #5: "],
    [1, "step compiled again once and loaded from the persistent cache once, 4 s in all; #5: "],
  ])("say what was loaded and not compiled again (%i of 2)", async (loaded, said) => {
    await open({ compiles_causes: () => causesReply({ headline: { number: 5, function: "step", times: 2, loaded, seconds: 4, mendable: true, causes: [recompileCause()], causes_in_all: 1 } }) });
    await caused();
    expect($(".jxs-co-verdict")?.textContent).toContain(said);
  });

  it("say that the persistent cache is off where no folder is in use", async () => {
    await open({ compiles_causes: () => causesReply({ totals: { spent: 1, wasted: 0, avoidable: 0, is_complete: true, saved: null, hits: 0, is_cache_off: true } }) });
    await caused();
    expect($(".jxs-co-totals")?.textContent).toContain("persistent cache off (no folder)");
  });

  it("say when nothing was compiled again", async () => {
    await open({ compiles_causes: () => causesReply({ headline: null }) });
    await soon(() => expect($(".jxs-co-verdict")?.textContent).toBe("Nothing was compiled again."));
  });
});

describe("one compile", () => {
  it("is the one of the headline at first, with why, what differs and what to do", async () => {
    await open();
    await caused();
    await soon(() => expect($(".jxs-co-differences")).not.toBeNull());
    expect($('.jxs-grid-row[aria-selected="true"]')?.textContent).toMatch(/^5/);
    expect($$(".jxs-co-differences tbody tr").map((row) => row.textContent)).toEqual([`x shapef32[8]f32[3]${HOSTILE}`]);
    expect(detail()).toContain("and 2 more");
    expect($(".jxs-co-code pre")?.textContent).toBe("x = jnp.pad(x, (0, 5))");
    expect(detail()).toMatch(/trace500 ms, from the cache/);
    expect(detail()).toMatch(/compileits end was not reported/);
    expect(detail()).toMatch(/hit, verified, read in 20 ms, 500 ms slower than compiling/);
    expect(detail()).toContain("--xla_flag: was not set, is 1");
    expect($(".jxs-co-detail details pre")?.textContent).toBe("-%0 = stablehlo.sine\n+%0 = stablehlo.cosine");
    expect(detail()).toMatch(/called fromlayers.py:3 in apply/);
  });

  it("leaves out differences that have no two sides", async () => {
    const sideless = [
      { kind: "cache cleared", what: "jax.clear_caches", before: "", now: "" },
      { kind: "made anew", what: "f", before: "f", now: "f" },
    ];
    await open({ compile_record: () => ({ ...recordReply(5), result: { ...recordReply(5).result, differences: sideless, more_differences: 0 } }) });
    await soon(() => expect(detail()).toContain("Pad x."));
    expect($(".jxs-co-differences")).toBeNull();
  });

  it("is chosen in the list, by the keys of the strip and by the numbers of others", async () => {
    await open();
    await caused();
    click($('.jxs-co-list [data-row="3"]'));
    await soon(() => expect(detail()).toContain("#5"));
    key($(".jxs-co-strip"), "ArrowRight");
    await soon(() => expect(detail()).toContain("#6"));
    key($(".jxs-co-strip"), "Home");
    await soon(() => expect(detail()).toContain("#1 "));
    const compared = () => [...($(".jxs-co-detail")?.querySelectorAll("button") ?? [])].find((button) => button.textContent === "#3");
    await soon(() => expect(compared()).toBeDefined());
    click(compared());
    await soon(() => expect($(".jxs-co-detail")?.getAttribute("aria-label")).toBe("compile 3"));
  });

  it("says what the list has of it where no more was saved", async () => {
    await open({
      compile_record: () => {
        throw new Refusal("This was not saved with the report; run the cell to see it.", "absent");
      },
    });
    await caused();
    await soon(() => expect(detail()).toContain("not saved"));
    expect(detail()).toContain("x is f32[3], was f32[8]");
  });

  it("is compared with another in place of the list, line by line, and back", async () => {
    const lines = [
      ["skipped", null, null, "4 lines alike"],
      ["removed", 4, null, `  tanh ${HOSTILE}`],
      ["added", null, 4, "  cosh"],
    ];
    const documents = [
      { kind: "jaxpr", title: "jaxpr", counts: { changed: 0 }, lines: [], left_out: 0 },
      { kind: "hlo", title: "optimised HLO", counts: { removed: 1, added: 1200 }, lines, left_out: 7 },
    ];
    await open({ compile_compare: () => ({ result: { documents, unknown: [{ title: "StableHLO", reason: "only one of the two has it" }] }, buffers: [] }) });
    await soon(() => expect($(".jxs-co-open")).not.toBeNull());
    click($(".jxs-co-open button:nth-of-type(2)"));
    await soon(() => expect($$(".jxs-differing-line").map((line) => line.textContent)).toEqual([" 4 lines alike", `-  tanh ${HOSTILE}`, "+  cosh"]));
    expect($(".jxs-co-compared")?.textContent).toContain("optimised HLO: 1 removed, 1,200 added");
    expect($(".jxs-co-compared")?.textContent).toContain("StableHLO: only one of the two has it");
    expect($(".jxs-co-compared")?.textContent).toContain("7 more lines are not shown");
    click($(".jxs-co-compared .jxs-boxed"));
    await soon(() => expect(rows().length).toBe(6));
  });

  it("says why it cannot be opened", async () => {
    await open({
      compile_open: () => {
        throw new Refusal("#5 cannot be opened: its program was dropped", "absent");
      },
    });
    await soon(() => expect($(".jxs-co-open")).not.toBeNull());
    click($(".jxs-co-open button"));
    await soon(() => expect($(".jxs-co-open")?.textContent).toContain("its program was dropped"));
  });

  it("opens as a further call of the panel", async () => {
    await open({ compile_open: () => ({ result: { call: 1 }, buffers: [] }) });
    await soon(() => expect($(".jxs-co-open")).not.toBeNull());
    click($(".jxs-co-open button"));
    await soon(() => expect(kernel.asked).toContain("compile_open"));
    kernel.push({ calls: [SUMMARY, { name: "step", signature: "step(x: f32[3])", views: ["code"], documents: [] }] });
    await soon(() => expect($(".jxs-signature")?.textContent).toBe("step(x: f32[3])"));
  });
});

it("shows names as text", async () => {
  await open();
  await caused();
  expect(functions()).toContain(HOSTILE);
  expect(document.querySelector("script")).toBeNull();
});

it("is refreshed without losing what is shown meanwhile", async () => {
  let times = 0;
  await open({ compiles_refresh: () => ({ result: { new: 3 }, buffers: [] }), compiles: () => (times++ ? listReply({ dropped: 12 }) : listReply()) });
  await caused();
  click([...$$(".jxs-co-bar button")].find((button) => button.textContent === "Refresh"));
  await soon(() => expect($(".jxs-co-totals")?.textContent).toContain("12 older ones dropped"));
  expect(document.body.textContent).toContain("3 new records.");
  expect(rows().length).toBe(6);
});
