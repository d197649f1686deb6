// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import type { Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { useQuestion, useSelection } from "../../src/parts/hooks";
import { TABS } from "jaxstage:tabs";
import { Waiting } from "../../src/parts/waiting";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

const call = fixture[0]?.summary;
const reply = (result: Record<string, unknown>): Reply => ({ result, buffers: [] });
const readName = ({ result }: Reply) => String(result.name);

function Slow() {
  const selection = useSelection();
  const question = useQuestion("slow", { of: "it" }, readName);
  if (question.value === null) return <Waiting question={question} what="Compiling again" />;
  return (
    <p class="answer">
      {question.value}
      <button type="button" onClick={() => selection.show("stablehlo", 3)}>
        show
      </button>
    </p>
  );
}

let kernel: FakeKernel;
let unmount: () => void;

function open(...calls: Record<string, unknown>[]): Session {
  kernel.now = readState({ calls: calls.length ? calls : [{ ...call, views: ["code", "slow", "unheard-of"] }] });
  const session = new Session(kernel);
  unmount = mount(session, document.body);
  return session;
}

beforeEach(() => {
  kernel = new FakeKernel();
  TABS.slow = { title: "Slow", hint: "a look that takes long", component: Slow };
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(640);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});

afterEach(() => {
  unmount();
  delete TABS.slow;
  vi.restoreAllMocks();
});

const tabs = () => $$('[role="tab"]').map((tab) => tab.textContent);
const tab = (name: string) => $(`[role="tab"][data-view="${name}"]`);
const shown = () => $('[role="tab"][aria-selected="true"]')?.dataset.view;
const ready = () =>
  soon(() => {
    const panes = $$(".jxs-pane");
    expect(panes.length && panes.every((pane) => pane.dataset.ready === "true")).toBe(true);
  });

describe("tabs", () => {
  it("are those that the call names and the panel has; one alone is no tab", () => {
    open();
    expect(tabs()).toEqual(["Code", "Slow"]);
    expect(shown()).toBe("code");
    unmount();
    open({ ...call, views: ["code", "unheard-of"] });
    expect(tabs()).toEqual([]);
    expect($(".jxs-toolbar [aria-label^='Full screen']")).not.toBeNull();
    unmount();
    open({ ...call, views: undefined });
    expect($(".jxs-panes")).not.toBeNull();
  });

  it("open by click and by number, and the selection stays", async () => {
    const session = open();
    await ready();
    session.selection.select("jaxpr", 2);
    expect(kernel.asked).not.toContain("slow");
    kernel.answers.slow = () => reply({ name: "there" });
    click(tab("slow"));
    await soon(() => expect($(".answer")?.textContent).toContain("there"));
    expect($(".jxs-panes")).toBeNull();
    key(tab("slow"), "1");
    await soon(() => expect($$(".jxs-selected").length).toBe(1));
    expect(shown()).toBe("code");
    $(".jxs-code")?.focus();
    key($(".jxs-code"), "2");
    await soon(() => expect($(".answer")).not.toBeNull());
    await soon(() => expect(document.activeElement).toBe(tab("slow")));
    key(tab("slow"), "1");
    await soon(() => expect(document.activeElement, "the keyboard follows the tabs that numbers open").toBe(tab("code")));
    expect(session.selection.get().selected).toMatchObject({ doc: "jaxpr", row: 2 });
  });

  it("are moved among by arrows, which open none", () => {
    open();
    tab("code")?.focus();
    key(tab("code"), "ArrowLeft");
    expect(document.activeElement).toBe(tab("slow"));
    expect(shown()).toBe("code");
    key(tab("slow"), "ArrowRight");
    expect(document.activeElement).toBe(tab("code"));
    expect($$('[role="tab"]').map((t) => t.tabIndex)).toEqual([0, -1]);
  });

  it("stay open for another call that has them, else give way to the code", async () => {
    kernel.answers.slow = ({ call }) => reply({ name: `of call ${call}` });
    const session = open(
      { ...call, views: ["code", "slow"] },
      { ...call, views: ["code", "slow"] },
      { ...call, views: ["code"] },
    );
    click(tab("slow"));
    await soon(() => expect($(".answer")?.textContent).toContain("of call 0"));
    session.selection.pickCall(1);
    await soon(() => expect($(".answer")?.textContent).toContain("of call 1"));
    session.selection.pickCall(2);
    await soon(() => expect($(".jxs-panes")).not.toBeNull());
    session.selection.pickCall(0);
    await soon(() => expect(shown()).toBe("code"));
  });

  it("show a line of the code that another view names, in a pane opened for it", async () => {
    kernel.answers.slow = () => reply({ name: "there" });
    const session = open();
    click(tab("slow"));
    await soon(() => expect($(".answer button")).not.toBeNull());
    click($(".answer button"));
    await ready();
    expect($$(".jxs-pane").map((pane) => pane.dataset.doc)).toContain("stablehlo");
    await soon(() => expect($("[data-doc=stablehlo] .jxs-selected")?.dataset.row).toBe("3"));
    expect(session.documents.doc("stablehlo")?.current).toBe(3);
  });
});

describe("a slow look", () => {
  const pending = (progress: string | null) => reply({ pending: { elapsed: 7, progress } });

  it("shows the time and how far it is, then the answer, and is asked for once", async () => {
    kernel.answers.slow = () => pending("pass 3 of <b>90</b>");
    open();
    click(tab("slow"));
    await soon(() => expect($(".jxs-look [role=status]")?.textContent).toBe("Compiling again… pass 3 of <b>90</b>"));
    await soon(() => expect($(".jxs-clock")?.textContent).toMatch(/^[78]\.\d s$/));
    kernel.answers.slow = () => reply({ name: "there" });
    await soon(() => expect($(".answer")?.textContent).toContain("there"));
    const asked = kernel.asked.filter((method) => method === "slow").length;
    key(tab("slow"), "1");
    await soon(() => expect($(".jxs-panes")).not.toBeNull());
    key($(".jxs-tab"), "2");
    await soon(() => expect($(".answer")?.textContent).toContain("there"));
    expect(kernel.asked.filter((method) => method === "slow").length).toBe(asked);
  });

  it("is cancelled, which is said to the kernel, and started again", async () => {
    const cancelled: unknown[] = [];
    kernel.answers.slow = () => pending(null);
    kernel.answers.cancel = (params) => (cancelled.push(params), reply({ stopped: true }));
    open();
    click(tab("slow"));
    await soon(() => expect($(".jxs-look button")).not.toBeNull());
    click($(".jxs-look button"));
    await soon(() => expect($(".jxs-look")?.textContent).toContain("Stopped."));
    expect(cancelled).toEqual([{ call: 0, of: "slow" }]);
    const times = () => kernel.asked.filter((asked) => asked.startsWith("slow")).length;
    const asked = times();
    await new Promise((done) => setTimeout(done, 600));
    expect(times()).toBe(asked);
    kernel.answers.slow = () => reply({ name: "there" });
    click($(".jxs-look button"));
    await soon(() => expect($(".answer")?.textContent).toContain("there"));
  });

  it("is asked for once and cancelled for both where a notebook shows the panel twice", async () => {
    kernel.answers.slow = () => pending("pass 3");
    kernel.answers.cancel = () => reply({ stopped: true });
    const session = open();
    const first = unmount;
    const second = mount(session, document.body);
    unmount = () => (first(), second());
    session.selection.set({ view: "slow" });
    await soon(() => expect($$(".jxs-look [role=status]").map((s) => s.textContent)).toEqual(Array(2).fill("Compiling again… pass 3")));
    expect(kernel.asked.filter((method) => method === "slow").length).toBeLessThan(4);
    click($(".jxs-look button"));
    await soon(() => expect($$(".jxs-look").map((look) => look.textContent)).toEqual(Array(2).fill("Stopped.Start again")));
    const slow = () => kernel.asked.filter((method) => method === "slow").length;
    const asked = slow();
    await new Promise((done) => setTimeout(done, 600));
    expect(slow()).toBe(asked);
    kernel.answers.slow = () => reply({ name: "there" });
    click($(".jxs-look button"));
    await soon(() => expect($$(".answer").length).toBe(2));
    expect(kernel.asked.filter((method) => method === "slow").length).toBeLessThan(6);
  });

  it("goes on asking when its view comes back, and not while it is away", async () => {
    kernel.answers.slow = () => pending(null);
    const session = open();
    click(tab("slow"));
    const slow = () => kernel.asked.filter((method) => method === "slow").length;
    await soon(() => expect(slow()).toBeGreaterThan(0));
    session.selection.set({ view: "code" });
    await soon(() => expect($(".jxs-look")).toBeNull());
    await new Promise((done) => setTimeout(done, 300)); // effects end after the drawing
    const asked = slow();
    await new Promise((done) => setTimeout(done, 600));
    expect(slow()).toBe(asked);
    kernel.answers.slow = () => reply({ name: "there" });
    session.selection.set({ view: "slow" });
    await soon(() => expect($(".answer")).not.toBeNull());
  });

  it("that fails says why as text, and is tried again on demand", async () => {
    kernel.answers.slow = () => {
      throw new Error("XLA said <i>no</i>");
    };
    open();
    click(tab("slow"));
    await soon(() => expect($(".jxs-look[role=alert]")?.textContent).toContain("XLA said <i>no</i>"));
    kernel.answers.slow = () => reply({ name: "there" });
    click($(".jxs-look button"));
    await soon(() => expect($(".answer")?.textContent).toContain("there"));
  });

  it("in a page without a kernel says what it takes", async () => {
    open();
    click(tab("slow"));
    await soon(() => expect($(".jxs-look")?.textContent).toContain("run the cell to see it"));
  });
});
