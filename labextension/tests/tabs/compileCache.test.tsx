// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TABS } from "jaxstage:tabs";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import CompileCacheView from "../../src/tabs/compile_cache/view";
import type { Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { $, $$, FakeKernel, soon } from "../kernel";
import { tableReply } from "./tableReply";
import { HOSTILE } from "./compilesReplies";

const SUMMARY = { name: "Persistent compilation cache", signature: "", views: ["compile_cache"], open: "compile_cache" };
const MISSES = "11 misses: 3 because xla_cpu_enable_fast_math changed, 8 first time";
const WRITE_ALL = 'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)';

const cache = (more = {}, rows = 2): Reply =>
  tableReply(
    {
      program: { title: "program", cells: ["jit_step", `jit_${HOSTILE}`].slice(0, rows) },
      state: { title: "state", cells: ["torn", null].slice(0, rows), why: [null, "not read"].slice(0, rows) },
      key: { title: "key", cells: ["jit_step-1", "jit_step-2"].slice(0, rows) },
    },
    {
      headline: "JAX's persistent compilation cache uses /cache",
      warnings: ["1 damaged entry"],
      sentences: ["2 entries, 5 kB", `This kernel: ${HOSTILE}`],
      left_out: 3,
      ...more,
    },
  );

let kernel: FakeKernel;
let unmount: () => void;

async function open(reply: Reply): Promise<void> {
  kernel.now = readState({ calls: [SUMMARY] });
  Object.assign(kernel.answers, {
    compile_cache: () => reply,
    compile_cache_misses: () => ({ result: { words: MISSES }, buffers: [] }),
    compile_cache_refresh: () => ({ result: { new: 1 }, buffers: [] }),
    compile_cache_entry: ({ key }: { key?: unknown }) => ({
      result: { key, facts: [["size", "2 kB"]], missed: [HOSTILE], diff: ["+ a"], records: ["#3 written", "#4 hit"] },
      buffers: [],
    }),
  });
  unmount = mount(new Session(kernel, "panel"), document.body);
  await soon(() => expect($(".jxs-cc-head")).not.toBeNull());
}

beforeEach(() => {
  TABS.compile_cache = { title: "Cache", hint: "", tall: true, component: CompileCacheView };
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1000);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

describe("the persistent cache", () => {
  it("says which folder is in use and what is wrong, before the entries", async () => {
    await open(cache());
    expect($(".jxs-cc-head .jxs-headline")?.textContent).toBe("JAX's persistent compilation cache uses /cache");
    expect($(".jxs-cc-wrong")?.textContent).toBe("1 damaged entry");
    expect($(".jxs-cc-head")?.textContent).toContain("2 entries, 5 kB");
    expect(document.body.textContent).toContain("3 older entries are not listed");
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    expect($("[data-row]")?.textContent).toContain("jit_step");
    expect($$("[data-row]")[1]?.textContent).toContain("not checked: not read");
    expect($$("img, script")).toHaveLength(0);
  });

  it("says why misses missed, and gives the line to paste", async () => {
    await open(cache({ advice: [["To write every program:", WRITE_ALL]], folder: "/home/me/cache" }));
    await soon(() => expect($(".jxs-cc-misses")?.textContent).toBe(MISSES));
    expect($(".jxs-cc-code pre")?.textContent).toBe(WRITE_ALL);
    expect($(".jxs-headline")?.getAttribute("title")).toBe("/home/me/cache");
  });

  it("opens the details of a row that is clicked, whose names are no markup", async () => {
    await open(cache());
    await soon(() => expect($$("[data-row]")).toHaveLength(2));
    expect($(".jxs-cc-entry")).toBeNull();
    ($$("[data-row]")[1] as HTMLElement).click();
    await soon(() => expect($(".jxs-cc-entry")?.textContent).toContain("#3 written, #4 hit"));
    expect($(".jxs-cc-entry")?.textContent).toContain("jit_step-2");
    expect($(".jxs-cc-entry")?.textContent).toContain(HOSTILE);
    expect($$("img, script")).toHaveLength(0);
  });

  it("is read anew by Refresh, and keeps its list meanwhile", async () => {
    await open(cache());
    kernel.answers.compile_cache = () => cache({ headline: "another" });
    [...$$("button")].find((button) => button.textContent === "Refresh")?.click();
    await soon(() => expect($(".jxs-headline")?.textContent).toBe("another"));
  });

  it("has no list where there are no entries", async () => {
    await open(cache({ warnings: [], left_out: 0 }, 0));
    expect($$("[data-row]")).toHaveLength(0);
    expect($(".jxs-cc-wrong")).toBeNull();
    expect($(".jxs-cc-empty")).not.toBeNull();
  });
});
