// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

let kernel: FakeKernel;
let unmount: () => void;

beforeEach(() => {
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(640);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});

afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

const row = (doc: string, text: string) => $$(`[data-doc=${doc}] .jxs-row`).find((r) => r.textContent?.includes(text)) as HTMLElement;
const texts = (selector: string) => $$(selector).map((node) => node.querySelector(".jxs-line")?.textContent ?? "");

function open(session = new Session(kernel)): Session {
  unmount = mount(session, document.body);
  return session;
}

async function ready(): Promise<void> {
  await soon(() => {
    const panes = $$(".jxs-pane");
    expect(panes.length && panes.every((pane) => pane.dataset.ready === "true")).toBe(true);
    expect($(".jxs-coloured")).not.toBeNull();
  });
  const list = $("[data-doc=hlo] .jxs-code");
  if (list) list.scrollTop = 0;
  list?.dispatchEvent(new Event("scroll"));
}

const hover = (node: Element) => node.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));

describe("code view", () => {
  it("fetches only the panes that are open", async () => {
    open();
    await ready();
    expect($$(".jxs-pane").map((pane) => pane.dataset.doc)).toEqual(["python", "jaxpr", "hlo"]);
    expect(kernel.asked).not.toContain("document stablehlo");
    click($('[data-toggle="stablehlo"]'));
    await ready();
    expect(kernel.asked).toContain("document stablehlo");
    expect($$(".jxs-pane").length).toBe(4);
  });

  it("lights counterparts under the pointer and lets them go", async () => {
    open();
    await ready();
    hover(row("python", "jax.nn.softmax").querySelector(".jxs-line") as Element);
    expect(texts("[data-doc=jaxpr] .jxs-strong").some((line) => line.includes("exp"))).toBe(true);
    expect(texts("[data-doc=jaxpr] .jxs-strong").some((line) => line.includes("tanh"))).toBe(false);
    $("[data-doc=python] .jxs-code")?.dispatchEvent(new PointerEvent("pointerleave"));
    expect($$(".jxs-strong")).toEqual([]);
  });

  it("holds a selection, says what it came from, and lets it go on Escape", async () => {
    open();
    await ready();
    click(row("jaxpr", "= tanh").querySelector(".jxs-num"));
    expect($$(".jxs-selected").length).toBe(1);
    expect(texts("[data-doc=python] .jxs-strong")).toEqual(["    h = jnp.tanh(x @ w)"]);
    await soon(() => expect($(".jxs-words")?.textContent).toContain("fixture.py:16"));
    key($("[data-doc=jaxpr] .jxs-code"), "Escape");
    expect($$(".jxs-selected, .jxs-strong")).toEqual([]);
  });

  it("says gradient, and shows the whole stack on demand", async () => {
    open();
    await ready();
    click($("[data-doc=hlo] .jxs-gradient .jxs-num"));
    await soon(() => expect($(".jxs-words")?.textContent).toContain("gradient of"));
    key($("[data-doc=hlo] .jxs-code"), "s");
    await soon(() => expect($$(".jxs-stack > div").length).toBeGreaterThan(0));
  });

  it("folds by click and by key, and a selection unfolds what it needs", async () => {
    open();
    await ready();
    const shown = () => $$("[data-doc=hlo] .jxs-row").map((r) => Number(r.dataset.row));
    const before = shown();
    const header = $("[data-doc=hlo] .jxs-fold-open");
    const first = Number(header?.closest<HTMLElement>(".jxs-row")?.dataset.row);
    click(header);
    expect(shown()).not.toContain(first + 1);
    expect($("[data-doc=hlo] .jxs-folded")?.textContent).toMatch(/⋯ \d+ lines/);
    key($("[data-doc=hlo] .jxs-code"), "f");
    expect(shown()).toEqual(before);
    key($("[data-doc=hlo] .jxs-code"), "F");
    click(row("python", "jnp.tanh").querySelector(".jxs-num"));
    expect(texts("[data-doc=hlo] .jxs-strong").length).toBeGreaterThan(0);
  });

  it("lights a name where it is the same value, not in another computation", async () => {
    open();
    await ready();
    const name = row("jaxpr", "= tanh").querySelector(".jxs-t-def") as HTMLElement;
    hover(name);
    const same = $$("[data-doc=jaxpr] .jxs-same");
    expect(same.length).toBeGreaterThan(1);
    expect(new Set(same.map((token) => token.textContent))).toEqual(new Set([name.textContent]));
  });

  it("opens the optimised HLO at its entry computation, once", async () => {
    open();
    const rows = () => $$("[data-doc=hlo] .jxs-row").map((node) => Number(node.dataset.row));
    const top = () => $("[data-doc=hlo] .jxs-code")?.scrollTop;
    await soon(() => expect(top()).toBeGreaterThan(0));
    expect(rows()).not.toContain(0);
    await ready();
    click($('[data-toggle="layouts"]'));
    await new Promise((done) => setTimeout(done, 50));
    expect(top()).toBe(0);
  });

  it("goes to a called computation and back", async () => {
    const session = open();
    await ready();
    key($("[data-doc=hlo] .jxs-code"), "End");
    const call = $("[data-doc=hlo] .jxs-t-ref:not(.jxs-t-def)") as HTMLElement;
    const from = Number(call.closest<HTMLElement>(".jxs-row")?.dataset.row);
    click(call);
    await soon(() => expect(texts("[data-doc=hlo] .jxs-selected")[0]).toMatch(/^%\S+ \(.*\{$/));
    key($("[data-doc=hlo] .jxs-code"), "ArrowLeft", { altKey: true });
    expect(session.selection.get().selected).toMatchObject({ doc: "hlo", row: from });
  });

  it("searches, counts, steps, and shows a hidden hit's line whole", async () => {
    open();
    await ready();
    $("[data-doc=hlo] .jxs-code")?.focus();
    key($("[data-doc=hlo] .jxs-code"), "Home");
    key($("[data-doc=hlo] .jxs-code"), "/");
    await soon(() => expect($("[data-doc=hlo] .jxs-search input")).not.toBeNull());
    const input = $(".jxs-search input") as HTMLInputElement;
    const type = (text: string) => {
      input.value = text;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    };
    type("{1,0}");
    await soon(() => expect($(".jxs-hits")?.textContent).toMatch(/^1 \/ \d+$/));
    expect($("[data-doc=hlo] .jxs-hit-now")?.textContent).toBe("{1,0}");
    key(input, "Enter");
    await soon(() => expect($(".jxs-hits")?.textContent).toMatch(/^2 \/ \d+$/));
    type("no such thing");
    await soon(() => expect($(".jxs-hits")?.textContent).toBe("no hits"));
    key(input, "Escape");
    await soon(() => expect($(".jxs-search")).toBeNull());
  });

  it("hides and shows types, layouts and metadata", async () => {
    open();
    await ready();
    const line = () => row("hlo", "parameter(0)").querySelector(".jxs-line")?.textContent;
    expect(line()).not.toContain("{1,0}");
    click($('[data-toggle="layouts"]'));
    expect(line()).toContain("{1,0}");
    key($("[data-doc=hlo] .jxs-code"), "t");
    expect(line()).not.toContain("f32[");
    key($("[data-doc=jaxpr] .jxs-code"), "m");
    expect(row("jaxpr", "tanh").textContent).toContain("// ");
  });

  it("keeps its keys from the notebook around it", async () => {
    open();
    await ready();
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    const isKept = () => $(".jaxstage")?.dataset.lmSuppressShortcuts !== undefined;
    for (const [name, modifiers] of [["d"], ["x"], ["Enter"], ["ArrowDown"], ["f", { ctrlKey: true }]] as const) {
      key($("[data-doc=hlo] .jxs-code"), name, modifiers);
      expect(isKept(), name).toBe(true);
    }
    document.body.removeEventListener("keydown", heard);
    expect(heard).not.toHaveBeenCalled();
  });

  it.each([
    ["s", { ctrlKey: true }],
    ["s", { metaKey: true }],
    ["c", { ctrlKey: true, shiftKey: true }],
    ["Enter", { ctrlKey: true }],
    ["Enter", { shiftKey: true }],
    ["F11", {}],
  ] as const)("leaves %s with %o to the notebook around it", async (name, modifiers) => {
    open();
    await ready();
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    key($("[data-doc=hlo] .jxs-code"), "d");
    key($("[data-doc=hlo] .jxs-code"), name, modifiers);
    document.body.removeEventListener("keydown", heard);
    expect(heard).toHaveBeenCalledOnce();
    expect($(".jaxstage")?.dataset.lmSuppressShortcuts).toBeUndefined();
  });

  it("finds everything as it was when it is drawn again", async () => {
    const session = open();
    await ready();
    click(row("jaxpr", "= tanh").querySelector(".jxs-num"));
    key($("[data-doc=hlo] .jxs-code"), "F");
    const folded = $$("[data-doc=hlo] .jxs-folded").length;
    const asked = kernel.asked.length;
    unmount();
    expect($(".jaxstage")).toBeNull();
    open(session);
    expect($$(".jxs-selected").length).toBe(1);
    expect($$("[data-doc=hlo] .jxs-folded").length).toBe(folded);
    expect(kernel.asked.length).toBe(asked);
  });
});

describe("a kernel that dies", () => {
  it("leaves what is there usable, says so, and is asked again on demand", async () => {
    open();
    await ready();
    kernel.dead = true;
    click($('[data-toggle="stablehlo"]'));
    await soon(() => expect($("[data-doc=stablehlo] .jxs-trouble")?.textContent).toContain("did not answer"));
    expect(row("jaxpr", "tanh")).toBeDefined();
    kernel.dead = false;
    click($("[data-doc=stablehlo] .jxs-trouble button"));
    await ready();
    expect($(".jxs-trouble")).toBeNull();
  });
});

describe("stages", () => {
  const call = fixture[0]?.summary;
  const stages = (...states: string[]) =>
    ["trace", "lower", "compile"].map((name, i) => ({ name, state: states[i], seconds: null, count: null, note: null }));

  it("fill in one by one, the running one marked, and the user stays where he is", async () => {
    const documents = call?.documents.slice(0, 2) ?? [];
    kernel.now = readState({ calls: [{ ...call, stages: stages("done", "running", "waiting"), documents }] });
    open();
    await ready();
    expect($('[data-stage="lower"]')?.dataset.state).toBe("running");
    expect($$(".jxs-pane").map((pane) => pane.dataset.doc)).toEqual(["python", "jaxpr"]);
    click(row("jaxpr", "= tanh").querySelector(".jxs-num"));
    kernel.push({ calls: [{ ...call, stages: stages("done", "done", "done") }] });
    await soon(() => expect($$(".jxs-pane").map((pane) => pane.dataset.doc)).toContain("hlo"));
    await ready();
    expect($$(".jxs-selected").length).toBe(1);
  });

  it("does not say that a stage runs where a saved panel's kernel is gone", async () => {
    const [trace, lower, compile] = stages("done", "done", "running");
    const now = { calls: [{ ...call, documents: [], stages: [trace, lower, { ...compile, elapsed: 3 }] }], busy: true };
    kernel.now = readState(now);
    kernel.dead = true;
    open();
    const shown = () => $('[data-stage="compile"] .jxs-stage-time')?.textContent;
    await soon(() => expect(shown()).toBe("not finished; the kernel does not answer"));
    kernel.push(now);
    await soon(() => expect(shown()).toMatch(/^running… 3\.\d s$/));
  });

  it("that run show the time by this page's clock, set by the kernel once", async () => {
    const [trace, lower, compile] = stages("done", "done", "running");
    const running = (elapsed: number | null) => ({ calls: [{ ...call, documents: [], stages: [trace, lower, { ...compile, elapsed }] }], busy: true });
    kernel.now = readState(running(0));
    kernel.answers.elapsed = () => ({ result: { elapsed: 70 }, buffers: [] });
    open();
    const shown = () => $('[data-stage="compile"] .jxs-stage-time')?.textContent;
    await soon(() => expect(shown()).toBe("running… 1 min 10 s"));
    await soon(() => expect(shown()).toBe("running… 1 min 11 s"));
    kernel.push(running(5));
    await soon(() => expect(shown()).toMatch(/^running… 5\.\d s$/));
    await new Promise((done) => setTimeout(done, 600));
    expect(shown()).toMatch(/^running… 5\.[5-9] s$/);
    expect(kernel.asked.filter((method) => method === "elapsed").length).toBe(1);
  });

  it("that fail show JAX's error as text and mark the line", async () => {
    const error = { stage: "trace", type: "TypeError", message: "<b>bad</b>\n shapes", file: "labextension/dev/fixture.py", label: "", line: 16 };
    kernel.now = readState({ calls: [{ ...call, error, stages: stages("failed", "waiting", "waiting") }] });
    open();
    await ready();
    expect($(".jxs-failure pre")?.textContent).toBe("<b>bad</b>\n shapes");
    expect($(".jxs-failure pre b")).toBeNull();
    await soon(() => expect(texts(".jxs-error")).toEqual(["    h = jnp.tanh(x @ w)"]));
  });

  it("notes that say what is wrong are all in sight, and the others are not", () => {
    kernel.now = readState({ calls: [{ ...call, documents: [], notes: ["differs", "at line 3", "also"], urgent: 2 }] });
    open();
    expect($$(".jxs-head-notes > .jxs-caution").map((note) => note.textContent)).toEqual(["differs", "at line 3"]);
    expect($$(".jxs-head-notes > .jxs-note").length).toBe(2);
    expect($(".jxs-top > .jxs-link")?.textContent).toBe("1 more note");
  });

  it("unknown figures say unknown and why; notes and odd names are text", () => {
    const facts = [{ label: "FLOPs", text: "unknown", known: false, reason: "the cuda backend gives no cost analysis" }];
    const note = '<img src=x onerror="alert(1)">';
    kernel.now = readState({ calls: [{ ...call, facts, documents: [], signature: "<script>f</script>(x)", notes: [note] }] });
    open();
    expect($(".jxs-unknown")?.textContent).toContain("unknown");
    expect($(".jxs-unknown")?.title).toContain("no cost analysis");
    expect($(".jxs-signature")?.textContent).toBe("<script>f</script>(x)");
    expect($(".jxs-note")?.textContent).toBe(note);
    expect($$(".jaxstage script, .jaxstage img")).toEqual([]);
  });

  it("compile options are chips of text, and there are none where nothing was set", () => {
    const options = { xla_cpu_enable_fast_math: true, xla_backend_optimization_level: 0, xla_dump_to: "<b>here</b>" };
    kernel.now = readState({ calls: [{ ...call, options, documents: [] }] });
    open();
    expect($$(".jxs-options .jxs-option").map((chip) => chip.textContent)).toEqual([
      "xla_cpu_enable_fast_math=True",
      "xla_backend_optimization_level=0",
      "xla_dump_to=<b>here</b>",
    ]);
    expect($(".jxs-options b")).toBeNull();
    unmount();
    kernel.now = readState({ calls: [{ ...call, documents: [] }] });
    open();
    expect($(".jxs-options")).toBeNull();
  });

  it("of several calls are picked from a list", async () => {
    kernel.now = readState({ calls: [call, { ...call, name: "other", signature: "other(x)", documents: [] }] });
    open();
    await ready();
    const picker = $(".jxs-picker") as HTMLSelectElement;
    picker.value = "1";
    picker.dispatchEvent(new Event("change", { bubbles: true }));
    await soon(() => expect($(".jxs-signature")?.textContent).toBe("other(x)"));
    expect($$(".jxs-pane")).toEqual([]);
  });
});

it("help opens and closes by key", async () => {
  open();
  await ready();
  key($("[data-doc=hlo] .jxs-code"), "?");
  await soon(() => expect($(".jxs-help")?.textContent).toContain("next / previous linked line"));
  key($(".jxs-help"), "Escape");
  await soon(() => expect($(".jxs-help")).toBeNull());
});
