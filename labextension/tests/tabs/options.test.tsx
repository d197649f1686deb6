// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import OptionsView from "../../src/tabs/options/view";
import { TABS } from "jaxstage:tabs";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

const TABLE = [
  { name: "xla_cpu_enable_fast_math", type: "bool", values: ["True", "False"], default: "False", set: "True" },
  { name: "xla_cpu_scheduler_type", type: "enum", values: ["MEMORY", "SPEED"], default: "SPEED", set: null },
  { name: "xla_dump_to", type: "string", values: [], default: "", set: null },
  { name: "xla_gpu_options", type: "message list", values: [], default: null, set: null },
];

let kernel: FakeKernel;
let unmount: () => void;
let copied: string[];

async function open(flags: unknown[] = TABLE, problem = ""): Promise<void> {
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "options"] }] });
  kernel.answers.flags = () => ({ result: { flags, problem }, buffers: [] });
  unmount = mount(new Session(kernel), document.body);
  $('[role="tab"][data-view="options"]')?.focus();
  click($('[role="tab"][data-view="options"]'));
  await soon(() => expect($(".jxs-options-view")).not.toBeNull());
}

beforeEach(() => {
  TABS.options = { title: "options", hint: "", component: OptionsView };
  kernel = new FakeKernel();
  copied = [];
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => void copied.push(text) } });
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});

afterEach(() => {
  unmount();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const rows = () => $$(".jxs-flag").map((row) => row.dataset.flag);
const box = () => $(".jxs-view input") as HTMLInputElement;
const type = (text: string) => {
  box().value = text;
  box().dispatchEvent(new Event("input", { bubbles: true }));
};

describe("the flag browser", () => {
  it("lists every flag with its type, what holds and what is set, and leaves the focus on its tab", async () => {
    await open();
    expect(rows()).toEqual(TABLE.map((flag) => flag.name));
    expect($(".jxs-set")?.textContent).toContain("Truedefault False");
    expect($(".jxs-changed")?.textContent).toBe("True");
    expect($('[data-flag="xla_dump_to"]')?.textContent).toContain("(empty)");
    expect($('[data-flag="xla_gpu_options"]')?.textContent).toContain("not known");
    expect($('[data-flag="xla_gpu_options"] button')).toBeNull();
    await new Promise((done) => setTimeout(done, 20));
    expect(document.activeElement).toBe($('[role="tab"][data-view="options"]'));
  });

  it("is searched and filtered, and says how many there are", async () => {
    await open();
    type("dump");
    await soon(() => expect(rows()).toEqual(["xla_dump_to"]));
    expect($(".jxs-flag-count")?.textContent).toBe("1 of 4 flags");
    type("nothing like it");
    await soon(() => expect($(".jxs-flag-count")?.textContent).toContain("No matching flags"));
    key(box(), "Escape");
    await soon(() => expect(rows().length).toBe(4));
    click($$(".jxs-options-bar .jxs-toggle")[0]);
    await soon(() => expect(rows()).toEqual(["xla_cpu_enable_fast_math"]));
  });

  it("copies what a magic's line takes: by Enter, by button, by a value", async () => {
    await open();
    key(box(), "ArrowDown");
    await soon(() => expect($(".jxs-flag.jxs-current")?.dataset.flag).toBe("xla_cpu_scheduler_type"));
    expect(box().getAttribute("aria-activedescendant")).toBe($(".jxs-flag.jxs-current")?.id);
    key(box(), "Enter");
    click($('[data-flag="xla_cpu_enable_fast_math"] .jxs-icon-button'));
    click($$('[data-flag="xla_cpu_scheduler_type"] .jxs-flag-value')[0]);
    await soon(() =>
      expect(copied).toEqual([
        "--xla xla_cpu_scheduler_type=SPEED",
        "--xla xla_cpu_enable_fast_math=True",
        "--xla xla_cpu_scheduler_type=MEMORY",
      ]),
    );
    await soon(() => expect($(".jxs-message")?.textContent).toBe("Copied --xla xla_cpu_scheduler_type=MEMORY."));
  });

  it("says why there is no list, and shows what is set all the same", async () => {
    await open([{ name: "<b>odd</b>", type: null, values: [], default: null, set: "1" }], "the library is <i>sealed</i>");
    expect($(".jxs-options-view .jxs-note")?.textContent).toContain("the library is <i>sealed</i>, so there is no list");
    expect(rows()).toEqual(["<b>odd</b>"]);
    expect($(".jxs-flag")?.textContent).toContain("not checked");
    expect($$(".jxs-options-view b").map((b) => b.textContent)).toEqual(["1"]);
  });
});
