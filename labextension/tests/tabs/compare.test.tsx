// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TABS } from "jaxstage:tabs";
import CompareView from "../../src/tabs/compare/view";
import { sorted } from "../../src/parts/grid/sort";
import { type Compare, gridOf, readCompare } from "../../src/tabs/compare/read";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

const call = { ...fixture[0]?.summary, open: undefined };
const columns = [
  { name: "fits", title: "fits", hint: "whether it fits" },
  { name: "memory", title: "memory needed", hint: "as XLA allocates", unit: "B" },
];
const cells = (fits: boolean | null, memory: number | null, mark = "") => ({
  fits: fits === null ? { value: null, text: "unknown", reason: "no capacity" } : { value: fits ? "yes" : "no", text: fits ? "yes" : "no" },
  memory: { value: memory && memory * 1e6, text: memory === null ? "unknown" : `${memory} MB`, reason: memory === null ? "none" : null, mark },
});
const rows = [
  { target: "cpu:8", device: "cpu", cells: cells(null, 3), error: null },
  { target: "v5e:2x2", device: "tpu", cells: cells(true, 2, "best"), error: null },
  { target: "h100", device: "gpu", cells: cells(null, null), error: "lower failed: ValueError: it calls back" },
  { target: "v4:2x2x1", device: "tpu", cells: cells(false, 9, "worst"), error: null },
];
const calls = rows.map(({ target }, row) => ({
  ...call,
  name: `loss · ${target}`,
  target,
  views: ["code", "compare", "options"],
  open: "compare",
  compare: row ? { row } : { row, columns, rows },
}));

let kernel: FakeKernel;
let unmount = () => {};

function open(...given: Record<string, unknown>[]): Session {
  kernel.now = readState({ calls: given.length ? given : calls });
  const session = new Session(kernel);
  unmount = mount(session, document.body);
  return session;
}

beforeEach(() => {
  TABS.compare = { title: "Compare", hint: "", component: CompareView };
  kernel = new FakeKernel();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});
afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

const tab = () => $('[role="tab"][aria-selected="true"]')?.dataset.view;
const targets = () => $$(".jxs-compared").map((row) => row.dataset.target);
const told = () => $(".jxs-compare-why")?.textContent ?? "";

describe("the comparison", () => {
  it("opens first where a call has several targets, and only there", () => {
    open();
    expect(tab()).toBe("compare");
    expect(targets()).toEqual(["cpu:8", "v5e:2x2", "h100", "v4:2x2x1"]);
    unmount();
    open({ ...call, views: ["code", "options"] });
    expect(tab()).toBe("code");
  });

  it("marks the best and the worst by more than colour", () => {
    open();
    const marked = $$(".jxs-best, .jxs-worst").map((cell) => cell.textContent);
    expect(marked).toEqual(["▲best 2 MB−1 MB\n0.667×", "▼worst 9 MB+6 MB\n3×"]);
  });

  it("begins with what it comes to; below a figure stand its difference and ratio to the first, or to the version before", () => {
    const ratios = () => $$(".jxs-compared .jxs-grid-below").map((one) => one.textContent).filter((text) => text?.endsWith("×"));
    open();
    expect(ratios(), "of 3 MB; none of what is unknown, is no amount, or is the same").toEqual(["−1 MB\n0.667×", "+6 MB\n3×"]);
    expect($(".jxs-headline")).toBeNull();
    unmount();
    const [head, ...others] = calls;
    open({ ...head, compare: { ...head?.compare, before: 1, headline: "Worse than `v5e:2x2` in memory." } }, ...others);
    expect($(".jxs-headline")?.textContent).toBe("Worse than v5e:2x2 in memory.");
    expect(ratios(), "of 2 MB").toEqual(["+1 MB\n1.5×", "+7 MB\n4.5×"]);
  });

  it("says how many times it is, however small: no figure that is known is shown as none", () => {
    const among = [rows[0], { ...rows[1], cells: cells(true, 0.00027) }];
    open({ ...calls[0], compare: { row: 0, columns, rows: among } }, { ...calls[1] });
    expect($$(".jxs-compared .jxs-grid-below").map((one) => one.textContent)).toContain("−3 MB\n0.00009×");
  });

  it("shows a failed target's error in one line beside the others", () => {
    open();
    expect($(".jxs-grid-problem")?.textContent).toContain("ValueError: it calls back");
    expect($$(".jxs-compared td.jxs-cell").length).toBe(6);
  });

  it("sorts by a column's values, the unknown last, and goes back to the given order", async () => {
    open();
    const sort = () => click($('[data-column="memory"] button'));
    sort();
    await soon(() => expect(targets()).toEqual(["v5e:2x2", "cpu:8", "v4:2x2x1", "h100"]));
    expect($('[data-column="memory"]')?.getAttribute("aria-sort")).toBe("ascending");
    sort();
    await soon(() => expect(targets()).toEqual(["v4:2x2x1", "cpu:8", "v5e:2x2", "h100"]));
    sort();
    await soon(() => expect(targets()).toEqual(["cpu:8", "v5e:2x2", "h100", "v4:2x2x1"]));
  });

  it("opens a target's code on a click, from any target's panel", async () => {
    const session = open();
    click($('[data-target="v4:2x2x1"] td'));
    await soon(() => expect([session.selection.call, tab()]).toEqual([3, "code"]));
    session.selection.set({ view: "compare" });
    await soon(() => expect(targets().length).toBe(4));
    expect($(".jxs-compared.jxs-current")?.dataset.target).toBe("v4:2x2x1");
    click($('[data-target="v5e:2x2"] .jxs-link'));
    expect(session.selection.call).toBe(1);
  });

  it("finds its table when several calls are shown", async () => {
    const session = open({ ...call, views: ["code"] }, ...calls);
    session.selection.pickCall(2);
    await soon(() => expect(targets().length).toBe(4));
    click($('[data-target="cpu:8"] td'));
    expect(session.selection.call).toBe(1);
  });

  it("tells why a figure is unknown", async () => {
    open();
    $('[data-target="cpu:8"] td')?.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    await soon(() => expect(told()).toContain("fits on cpu:8: unknown, no capacity"));
  });

  it("shows the lines that differ at once where there is an earlier version, else when they are asked for", async () => {
    const [head, ...others] = calls;
    const session = open({ ...head, compare: { ...head?.compare, before: 3 } }, ...others);
    const asked: unknown[] = [];
    kernel.answers.difference = ({ before, after }) => {
      asked.push([before, after]);
      const lines = [["removed", 4, null, "  tanh"], ["added", null, 4, "  cosh"]];
      const documents = [{ kind: "hlo", title: "optimised HLO", counts: { removed: 1, added: 1 }, lines, left_out: 0 }];
      return { result: { documents, unknown: [{ title: "jaxpr", reason: "only one of the two has it" }] }, buffers: [] };
    };
    const selects = $$(".jxs-compare-pair select") as HTMLSelectElement[];
    await soon(() => expect($$(".jxs-differing-line").map((line) => line.textContent)).toEqual(["-  tanh", "+  cosh"]));
    expect($(".jxs-compare-lines")?.textContent).toContain("optimised HLO: 1 removed, 1 added");
    expect($(".jxs-compare-lines")?.textContent).toContain("jaxpr: only one of the two has it");
    const to = selects[1] as HTMLSelectElement;
    to.value = "1";
    to.dispatchEvent(new Event("change", { bubbles: true }));
    await soon(() => expect(asked).toEqual([[3, 0], [3, 1]]));
    expect(session.selection.call).toBe(0);
    unmount();
    open();
    expect($(".jxs-differing-line")).toBeNull();
    click($(".jxs-compare-pair button"));
    await soon(() => expect($$(".jxs-differing-line")).toHaveLength(2));
  });

  it("is walked with the arrow keys", async () => {
    open();
    const names = $$(".jxs-compared .jxs-link");
    names[0]?.focus();
    key(names[0] ?? null, "ArrowDown");
    expect(document.activeElement).toBe(names[1]);
    key(names[1] ?? null, "ArrowUp");
    key(names[0] ?? null, "ArrowUp");
    expect(document.activeElement).toBe(names[0]);
  });
});

describe("what is read from the kernel", () => {
  it("is checked: no table, odd cells, markup as text", () => {
    expect(readCompare(null)).toBe(null);
    expect(readCompare({ row: -3 })).toEqual({ row: 0, before: 0, headline: "", columns: [], rows: [] });
    const odd = readCompare({ columns, rows: [{ target: "<b>x</b>", cells: { fits: 3, memory: { value: "9", mark: "evil" } } }] });
    expect(odd?.rows[0]?.target).toBe("<b>x</b>");
    expect(odd?.rows[0]?.cells.get("memory")).toMatchObject({ value: null, text: "unknown", mark: "" });
    expect(readCompare({ columns, rows: Array(1000).fill({}) })?.rows.length).toBe(200);
  });

  it("is sorted without being changed", () => {
    const table = readCompare({ row: 0, columns, rows });
    const before = table?.rows.map((row) => row.target);
    const given = Uint32Array.from(rows.keys());
    expect([...sorted(gridOf(table as Compare), given, { field: "memory", down: true })]).toEqual([3, 0, 1, 2]);
    expect([...given]).toEqual([0, 1, 2, 3]);
    expect(table?.rows.map((row) => row.target)).toEqual(before);
  });

  it("orders the answers to whether it fits, and those of older reports", () => {
    const answers = ["yes", "no", "only with a setting", true, false, null];
    const read = readCompare({ columns, rows: answers.map((value) => ({ target: "a", cells: { fits: { value, text: String(value) } } })) });
    expect(read?.rows.map(({ cells }) => cells.get("fits")?.value)).toEqual([2, 0, 1, 2, 0, null]);
  });
});
