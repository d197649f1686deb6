// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import MemoryView from "../../src/tabs/memory/view";
import { openTab } from "../../src/shell/tabBar";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { CHECKS, COLUMNS, HEAD, reply, written } from "./memoryReply";
import { joined } from "./tableReply";
import { within } from "../within";

const AT = written({ buffer: ["<b>dot</b>", "w"], size: ["20 B", "40 B"], line: ["In [1]:2", ""] }, { total: 9 }, { row: [4, -1], from: [3, 0], to: [4, 4] });
const KEPT = written({ line: ["In [1]:2"] }, { notes: ["Kept: 3 B."] });
const POLICIES = written({ policy: ["as it is", "nothing_saveable"] });

const tables = (of: Record<string, Reply>, more: Record<string, unknown> = {}): Reply => {
  const { result, buffers } = joined(of);
  return { result: { ...result, ...more }, buffers };
};

let kernel: FakeKernel;
let session: Session;

async function open(head: Record<string, unknown> = HEAD, of = CHECKS as Record<string, Reply>): Promise<void> {
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "memory"] }] });
  kernel.answers.memory = () => reply(head, COLUMNS, of);
  kernel.answers["memory at"] = ({ position }: Params) => tables({ table: AT }, { live: position === 1 ? 70 : 40 });
  kernel.answers.kept = () => tables({ lines: KEPT, arrays: KEPT, policies: POLICIES });
  session = new Session(kernel);
  render(within(session, <MemoryView />), document.body);
  await soon(() => expect($(".jxs-mem-table tbody tr")).not.toBeNull());
}

beforeEach(() => {
  kernel = new FakeKernel();
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
});
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

const moment = () => $(".jxs-mem-moment")?.textContent;

describe("the memory view", () => {
  it("says whether it fits, and what lives at the peak", async () => {
    await open();
    expect($(".jxs-mem-fit")?.textContent).toBe("✓ Fits: it needs 80 B of the 100 B.");
    expect(moment()).toBe("70 B of HBM live at 1, while b runs the peak");
    expect($$(".jxs-mem-table tbody tr").length).toBe(2);
    expect($(".jxs-mem-table .jxs-note")?.textContent).toContain("7 more");
    expect($(".jxs-mem-table")?.textContent).toContain("<b>dot</b>");
  });

  it("a row selects its instruction for all views", async () => {
    await open();
    click($(".jxs-mem-table tbody tr"));
    expect(session.selection.get().selected).toEqual({ doc: "hlo", row: 4, from: "memory" });
  });

  it("donation is compiled by a click where it was not yet", async () => {
    const how = (text: string) => written({ what: ["Not donated"], how: [text] });
    kernel.answers.donation = () => tables({ advice: how("Donate state: it needs 1 MB (as written: 2 MB).") });
    await open({ ...HEAD, donate: ["state", "opt"] }, { ...CHECKS, advice: how("not computed yet") });
    click($$("button").find((button) => button.textContent?.startsWith("Suggestions")) ?? null);
    await soon(() => expect($("[data-donate]")?.textContent).toBe("Compile with state, opt donated"));
    expect(kernel.asked.filter((one) => one.startsWith("donation"))).toEqual([]);
    click($("[data-donate]"));
    await soon(() => expect($(".jxs-mem-table")?.textContent).toContain("as written: 2 MB"));
    expect($("[data-donate]")).toBeNull();
  });

  it("nothing is offered to be donated where nothing is", async () => {
    await open();
    click($$("button").find((button) => button.textContent?.startsWith("Suggestions")) ?? null);
    await soon(() => expect($(".jxs-mem-moment")).toBeNull());
    expect($("[data-donate]")).toBeNull();
  });

  it("keys move along the schedule; the peak is one click away", async () => {
    await open();
    const canvas = $(".jxs-mem-canvas");
    key(canvas, "Home");
    await soon(() => expect(moment()).toBe("40 B of HBM live at 0, while a runs"));
    expect(canvas?.getAttribute("aria-valuenow")).toBe("0");
    key(canvas, "End");
    await soon(() => expect(moment()).toContain("live at 4"));
    click($$(".jxs-mem-spaces button").at(-1));
    await soon(() => expect(moment()).toContain("the peak"));
  });

  it("compiles a checkpoint policy on request, and shows what it takes", async () => {
    await open();
    const asked: Params[] = [];
    kernel.answers.kept = () => tables({ lines: KEPT, arrays: KEPT, policies: POLICIES }, { compiled: [true, false] });
    kernel.answers.policy = (params: Params) => {
      asked.push(params);
      const text = "nothing_saveable: peak of 59 MB, 4.38 GFLOP.";
      return tables({ policies: POLICIES }, { compiled: [true, true], text });
    };
    click($('[data-part="backward"]'));
    await soon(() => expect($$(".jxs-mem-policies button").map((button) => button.textContent)).toEqual(["Compile with nothing_saveable"]));
    expect(asked).toEqual([]);
    click($('[data-policy="nothing_saveable"]'));
    await soon(() => expect($(".jxs-mem-backward")?.textContent).toContain("peak of 59 MB, 4.38 GFLOP"));
    expect(asked.length).toBe(1);
    expect(asked[0]?.policy).toBe("nothing_saveable");
    expect($$(".jxs-mem-policies button").length).toBe(0);
  });

  it("shows the tables, and what the backward pass keeps under a policy", async () => {
    await open();
    click($('[data-part="checks"]'));
    await soon(() => expect($(".jxs-mem-part")?.textContent).toContain("peak"));
    expect($$(".jxs-memory > .jxs-note").map((note) => note.textContent)).toEqual(["a note"]);
    expect($('[data-part="checks"]')?.textContent).toBe("XLA's figures");
    click($('[data-part="constants"]'));
    await soon(() => expect($(".jxs-mem-part")?.textContent).toContain("Nothing to list"));
    click($('[data-part="backward"]'));
    await soon(() => expect($(".jxs-mem-backward")?.textContent).toContain("nothing_saveable"));
    click($$(".jxs-mem-backward tbody tr")[1]);
    await soon(() => expect($$("h4").map((h) => h.textContent)).toContain("Residuals, by line, with nothing_saveable"));
  });

  it("says where XLA's own figures are others", async () => {
    await open(HEAD, { checks: written({ figure: ["total allocation", "peak"], note: ["", "XLA's is 3 B"] }) });
    expect($('[data-part="checks"]')?.textContent).toBe("XLA's figures (1 differs)");
  });

  it("says that it does not fit, and when that is unknown", async () => {
    await open({ ...HEAD, fit: { answer: "no", room: 10, text: "Does not fit" } });
    expect($('.jxs-mem-fit[data-answer="no"]')?.textContent).toBe("✕ Does not fit");
    await open({ ...HEAD, fit: { answer: "only with a setting", room: 10, text: "Fits only with" } });
    expect($(".jxs-mem-fit")?.textContent).toBe("! Fits only with");
    render(null, document.body);
    await open({ ...HEAD, fit: { answer: "unknown", room: null, text: "Whether it fits is unknown" } });
    expect($(".jxs-mem-fit")?.textContent).toContain("? Whether");
  });

  it("a kernel without an assignment gives its reason", async () => {
    kernel = new FakeKernel();
    const failing = () => {
      throw new Error("XLA gives no buffer assignment of f");
    };
    kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "memory"] }] });
    kernel.answers.memory = failing;
    session = new Session(kernel);
    render(within(session, <MemoryView />), document.body);
    await soon(() => expect($('.jxs-look[role="alert"]')?.textContent).toContain("no buffer assignment of f"));
  });
});

describe("the first tab", () => {
  it("is the one that the kernel names, such as the memory where the compile ran out of it", () => {
    const error = { stage: "compile", type: "JaxRuntimeError", message: "RESOURCE_EXHAUSTED: Ran out of memory on HBM" };
    const [summary] = readState({ calls: [{ ...fixture[0]?.summary, error, open: "memory", views: ["code", "compare", "memory"] }] }).calls;
    expect(openTab(summary ?? null, "")).toBe("memory");
    expect(openTab(summary ?? null, "code")).toBe("code");
  });
});
