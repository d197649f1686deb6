import { beforeEach, expect, test } from "vitest";
import { Session } from "../../src/model/session";
import { readViewState } from "../../src/model/viewState";
import { ViewStates } from "../../src/model/viewStates";
import type { Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { columnsReply, gz } from "../helpers";

class Kernel {
  private listener = () => {};
  constructor(
    private lines = 6,
    private run = "1",
  ) {}
  state() {
    const documents = ["python", "hlo"].map((kind) => ({ kind, lines: this.lines, bytes: 10 }));
    return readState({ calls: [{ name: "f", documents, views: ["code", "cost"] }], run: this.run });
  }
  onState(listener: () => void) {
    this.listener = listener;
    return () => {};
  }
  begin(run: string) {
    this.run = run;
    this.listener();
  }
  async request(method: string): Promise<Reply> {
    if (method === "document") return { result: { mode: "full" }, buffers: [gz(Array(this.lines).fill("x").join("\n"))] };
    if (method !== "columns") return columnsReply({}, { files: [], functions: [] });
    const fill = (value: number) => Array(this.lines).fill(value);
    return columnsReply({ frame: fill(-1), flags: fill(0), fold_end: [3, ...fill(-1).slice(1)], scope: fill(-1) }, { scopes: [] });
  }
}

let text: Record<string, string>;
const storage = { getItem: (key: string) => text[key] ?? null, setItem: (key: string, value: string) => void (text[key] = value) } as unknown as Storage;
const page = () => new ViewStates(() => storage);

function used(states: ViewStates, id = "panel", kernel = new Kernel()) {
  const session = new Session(kernel, id);
  const layout = states.open(session);
  states.watch(session, layout);
  return { session, layout };
}

beforeEach(() => {
  text = {};
});

test("tab, selection, panes, widths and folds are there after a reload", async () => {
  const states = page();
  const { session, layout } = used(states);
  session.selection.set({ view: "cost", measure: "flops", selected: { doc: "hlo", row: 4, from: "hlo" }, active: "hlo" });
  layout.set({ panes: ["python", "hlo"], widths: { hlo: 2 }, height: 400 });
  const doc = session.documents.doc("hlo");
  await expect.poll(() => doc?.rows).toBeTruthy();
  doc?.folds.toggle(0);
  states.flush();

  const after = used(page());
  expect(after.session.selection.get()).toMatchObject({ view: "cost", measure: "flops", selected: { doc: "hlo", row: 4 }, active: "hlo" });
  expect(after.layout.get()).toMatchObject({ panes: ["python", "hlo"], widths: { hlo: 2 }, height: 400, large: false });
  const folded = after.session.documents.doc("hlo");
  await expect.poll(() => folded?.folds.foldedRows).toEqual([0]);
});

test.each([new Kernel(7, "1"), new Kernel(6, "2")])("of other documents the tab is kept, the selection is not: %#", (kernel) => {
  const states = page();
  const { session } = used(states);
  session.selection.set({ view: "cost", selected: { doc: "hlo", row: 4, from: "" } });
  states.flush();
  expect(used(page(), "panel", kernel).session.selection.get()).toMatchObject({ view: "cost", selected: null });
});

test("a saved panel, which knows no run, is where its live one was", () => {
  const states = page();
  used(states).session.selection.set({ selected: { doc: "hlo", row: 4, from: "" } });
  expect(used(states, "panel", new Kernel(6, "")).session.selection.get().selected).toMatchObject({ doc: "hlo", row: 4 });
});

test("each panel has its own, a session without a panel none", () => {
  const states = page();
  used(states, "a").session.selection.set({ view: "cost" });
  used(states, "").session.selection.set({ view: "cost" });
  states.flush();
  expect(used(page(), "b").session.selection.get().view).toBe("");
  expect(used(page(), "").session.selection.get().view).toBe("");
});

test("fifty are kept, the latest", () => {
  const states = page();
  for (let i = 0; i < 60; i++) used(states, `p${i}`).session.selection.set({ view: "cost" });
  states.flush();
  expect((JSON.parse(text["jaxstage.views"] ?? "") as [string][]).length).toBe(50);
  expect(used(page(), "p59").session.selection.get().view).toBe("cost");
});

test("a storage that is forbidden or full disturbs nothing", () => {
  const forbidden = () => {
    throw new DOMException("denied", "SecurityError");
  };
  for (const broken of [forbidden, () => ({ getItem: forbidden, setItem: forbidden }) as unknown as Storage, () => undefined]) {
    const states = new ViewStates(broken);
    used(states).session.selection.set({ view: "cost" });
    states.flush();
    expect(used(states).session.selection.get().view).toBe("cost");
  }
});

test.each(["{", "null", '{"a":1}', '[["panel"]]', '[["panel",{"call":1e99,"view":7,"selected":{"doc":"hlo","row":-4},"folds":[{"kind":"hlo","rows":"x"}]}]]', "x".repeat(300_000)])(
  "what stands in the storage is not trusted: %#",
  (stored) => {
    text["jaxstage.views"] = stored;
    expect(() => used(page())).not.toThrow();
  },
);

test("names that could mean anything but a name are dropped", () => {
  const read = readViewState({ active: '"] body, [x="', view: "<img>", panes: ["hlo", "a'b"], widths: JSON.parse('{"__proto__": 3, "hlo": 1e9}'), height: -1 });
  expect(read).toMatchObject({ active: "", view: "", panes: ["hlo"], height: null });
  expect(({} as Record<string, unknown>).hlo).toBeUndefined();
});

test("a new run in the same panel keeps the tab and drops what was of the old documents", async () => {
  const kernel = new Kernel();
  const { session, layout } = used(page(), "panel", kernel);
  const before = session.documents.doc("hlo");
  await expect.poll(() => before?.rows).toBeTruthy();
  session.selection.set({ view: "cost", selected: { doc: "hlo", row: 1, from: "" } });
  layout.set({ panes: ["hlo"] });
  kernel.begin("2");
  expect(session.selection.get()).toMatchObject({ view: "cost", selected: null });
  expect(layout.get().panes).toEqual(["hlo"]);
  expect(session.documents.doc("hlo")).not.toBe(before);
});
