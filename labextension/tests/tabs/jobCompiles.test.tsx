// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TABS } from "jaxstage:tabs";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import JobCompilesView from "../../src/tabs/job_compiles/view";
import type { Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { $, $$, FakeKernel, soon } from "../kernel";
import { tableReply } from "./tableReply";
import { HOSTILE } from "./compilesReplies";

const SUMMARY = { name: "Compiles of all processes", signature: "", views: ["job_compiles"], open: "job_compiles" };
const LATE = "No log of process 2: no answer.";

const records = (more = {}): Reply =>
  tableReply(
    {
      process: { title: "process", cells: [0, 1, 1] },
      number: { title: "#", cells: [1, 1, 2] },
      program: { title: "program", cells: ["step(f32[8])", "step(f32[8])", `${HOSTILE}(f32[])`] },
      compile: { title: "compile", unit: "s", cells: [0.5, 0.25, null], why: [null, null, "this stage did not run"] },
      eager: { cells: [0, 0, 1] },
    },
    { sentences: ["2 of 3 processes", LATE, "The order differs"], processes: [0, 1], missing: [[2, "no answer"]], can_refresh: true, left_out: 4, ...more },
  );
const programs = (): Reply => tableReply({ program: { title: "program", cells: ["step(f32[8])"] }, wait: { title: "wait", unit: "s", cells: [0.1] } });

let kernel: FakeKernel;
let unmount: () => void;
const toggle = (name: string) => ($(`[data-toggle="${name}"]`) as HTMLElement).click();

async function open(reply = records()): Promise<void> {
  kernel.now = readState({ calls: [SUMMARY] });
  Object.assign(kernel.answers, {
    job_compiles: () => reply,
    job_compiles_programs: programs,
    job_compiles_refresh: () => ({ result: { new: 2 }, buffers: [] }),
    job_compiles_record: ({ process, number }: { process?: unknown; number?: unknown }) => ({
      result: { why: `because ${process} ${number} ${HOSTILE}`, advice: "give x one shape", code: "x = 1", differences: [["type", "x", "f32[8]", ""]], facts: [["outcome", "compiled"]] },
      buffers: [],
    }),
  });
  unmount = mount(new Session(kernel, "panel"), document.body);
  await soon(() => expect($$("[data-row]")).toHaveLength(1));
}

beforeEach(() => {
  TABS.job_compiles = { title: "Compiles", hint: "", tall: true, component: JobCompilesView };
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1000);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

describe("the compiles of all processes", () => {
  it("begins with what is to be said, those that did not answer marked, and the programs that they share", async () => {
    await open();
    expect($(".jxs-jc-head .jxs-headline")?.textContent).toBe("2 of 3 processes");
    expect($(".jxs-jc-wrong")?.textContent).toBe(LATE);
    expect($("[data-row]")?.textContent).toContain("step(f32[8])");
    expect(document.body.textContent).toContain("4 older records are not listed");
  });

  it("lists the records of all or of one process, eager operations on request, and names are no markup", async () => {
    await open();
    toggle("records");
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    toggle("1");
    await soon(() => expect($$("[data-row]")).toHaveLength(1));
    toggle("eager");
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    expect($$("[data-row]")[1]?.textContent).toMatch(/–$/);
    expect($$("img, script")).toHaveLength(0);
  });

  it("opens the records of a program that is clicked", async () => {
    await open();
    ($("[data-row]") as HTMLElement).click();
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    expect(($("input") as HTMLInputElement).value).toBe("step(f32[8])");
  });

  it("asks a process why it compiled once its record is looked at", async () => {
    await open();
    toggle("records");
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    expect($(".jxs-jc-detail")).toBeNull();
    ($$("[data-row]")[1] as HTMLElement).click();
    await soon(() => expect($(".jxs-jc-why")?.textContent).toBe(`because 1 1 ${HOSTILE}`));
    expect($(".jxs-jc-facts")?.textContent).toContain("f32[8] → nothing");
    expect($(".jxs-jc-code")?.textContent).toBe("x = 1");
    expect($$("img, script")).toHaveLength(0);
  });

  it("is asked anew by Refresh, and chooses among many processes by a list", async () => {
    await open(records({ processes: [0, 1, 2, 3, 4, 5, 6] }));
    toggle("records");
    await soon(() => expect($("select[aria-label=process]")?.textContent).toContain("process 6"));
    kernel.answers.job_compiles = () => records({ sentences: ["another"] });
    [...$$("button")].find((button) => button.textContent === "Refresh")?.click();
    await soon(() => expect($(".jxs-headline")?.textContent).toBe("another"));
  });
});
