// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Session } from "../../src/model/session";
import { gridOf, kindsOf } from "../../src/tabs/dimensions/alone";
import { markJaxpr, withAxes } from "../../src/tabs/dimensions/inJaxpr";
import type { Token } from "../../src/model/highlight";
import { type Dimensions, readDimensions } from "../../src/tabs/dimensions/read";
import DimensionsView from "../../src/tabs/dimensions/view";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import fixture from "../fixtures/loss.json";
import { columnsReply } from "../helpers";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { within } from "../within";

const dimension = (name: string, more: Record<string, unknown> = {}) => ({
  name, number: `d-${name}`, size: 64, splits: "2, 4", devices: 8, sent: 100, why: "", collectives: [], meets: [], lines: [], about: [], ...more,
});
const COSTLY = [
  { count: 3, kind: "all-reduce", sent: 2000, runs: 1, line: "In [1]:2" },
  { count: 1, kind: "all-gather", sent: null, runs: null, line: "" },
];
const RESULT = {
  headline: "3 named dimensions.",
  dimensions: [
    dimension("hidden <b>", { sent: 5000, meets: [1], lines: ["In [1]:2"], about: ["It joins 2 dimensions."] }),
    dimension("batch", { collectives: COSTLY, sent: null, why: "in a loop" }),
    dimension("vocab", { sent: 1 }),
  ],
  arguments: [
    { name: "params['up']", shape: [64, 64], axes: [2, 0], alike: 4 },
    { name: "x", shape: [64, 3], axes: [1, -1], alike: 1 },
    { name: "step", shape: [], axes: [], alike: 1 },
  ],
  more: 7,
  notes: ["1 more dimension."],
};

let place: HTMLElement;
let asked: Params[];

async function open(answer: (params: Params) => Reply, isSaved = false): Promise<void> {
  const kernel = new FakeKernel();
  asked = [];
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "dimensions"] }] });
  kernel.answers.dimensions = (params: Params) => {
    asked.push(params);
    return answer(params);
  };
  const session = new Session(Object.assign(kernel, { isSaved }));
  place = document.body.appendChild(document.createElement("div"));
  render(within(session, <DimensionsView />), place);
  await soon(() => expect($(".jxs-dimensions")).not.toBeNull());
}

afterEach(() => {
  render(null, place);
  place.remove();
});

const chips = () => $$(".jxs-dimension-chips button");
const heading = () => $(".jxs-dimension-about h4")?.textContent;

describe("the dimensions", () => {
  beforeEach(() => open(() => ({ result: RESULT, buffers: [] })));

  it("are a chip each, in a colour of its own; names are text", () => {
    expect(chips().map((chip) => chip.textContent)).toEqual(["hidden <b> 64", "batch 64", "vocab 64"]);
    expect(new Set(chips().map((chip) => chip.getAttribute("style"))).size).toBe(3);
    expect($(".jxs-dimensions b b")).toBeNull();
  });

  it("colour the axes of arguments; an axis that cannot be split has no button", () => {
    const rows = $$(".jxs-axis-row");
    expect(rows.map((row) => row.querySelectorAll("button").length)).toEqual([2, 1, 0]);
    expect(rows[0]?.textContent).toContain("×4");
    expect(rows[0]?.querySelector("button")?.getAttribute("style")).toBe(chips()[2]?.getAttribute("style"));
    expect(rows[2]?.textContent).toContain("scalar");
  });

  it("say what a chosen one meets and costs, and why a cost is unknown", async () => {
    expect(heading()).toContain("hidden <b>");
    click($$(".jxs-axis-row")[1]?.querySelector("button") as HTMLElement);
    await soon(() => expect(heading()).toContain("batch"));
    expect($(".jxs-dimension-about")?.textContent).toContain("in a loop");
    click($(".jxs-dimension-chips button") as HTMLElement);
    await soon(() => expect(heading()).toContain("hidden <b>"));
    click($(".jxs-dimension-about .jxs-axis") as HTMLElement);
    await soon(() => expect(heading()).toContain("batch"));
  });

  it("are walked with the arrows", () => {
    chips()[0]?.focus();
    key(chips()[0] as HTMLElement, "ArrowRight");
    expect(document.activeElement).toBe(chips()[1]);
    key(chips()[1] as HTMLElement, "End");
    expect(document.activeElement).toBe(chips()[2]);
  });
});

it("has the names before the costs", async () => {
  await open((params) => ({ result: params.quick ? RESULT : { pending: { since: 0, progress: "0 of 3" } }, buffers: [] }));
  expect(chips()).toHaveLength(3);
  expect(asked.map(({ quick }) => quick)).toContain(true);
});

it("sorts what is unknown last, and counts collectives of a kind", async () => {
  const { dimensions } = await readDimensions({ result: RESULT, buffers: [] });
  expect(kindsOf(dimensions[1]?.collectives ?? [])).toBe("3 all-reduce, all-gather");
  const sent = gridOf(dimensions).fields.find(({ name }) => name === "sent");
  expect(sent?.kind === "number" && [...(sent.values as number[])]).toEqual([5000, Number.NaN, 1]);
  expect(sent?.kind === "number" && sent.why?.(1)).toBe("in a loop");
});

it("reads a reply that is not as it must be as empty", async () => {
  const odd = { dimensions: [{ name: 3, meets: "x", collectives: {} }, null], arguments: [{ axes: ["a"], shape: [-1] }], more: "many" };
  const read = await readDimensions({ result: odd, buffers: [] });
  expect(read.dimensions[0]).toMatchObject({ name: "", meets: [], collectives: [], sent: null });
  expect(read.arguments[0]).toMatchObject({ name: "", axes: [-1], shape: [0], alike: 1 });
  expect(read.more).toBe(0);
});

describe("the sizes in the jaxpr", () => {
  const tokens: Token[] = [
    { start: 0, end: 1, cls: "name", def: true },
    { start: 1, end: 11, cls: "type" },
  ];
  const line = "a:f32[64,8] = tanh b";
  const { dimensions } = RESULT as unknown as Dimensions;

  it("are tokens of their own, with the name of their dimension as text", () => {
    const made = withAxes(tokens, [{ start: 6, end: 8, place: 0 }, { start: 9, end: 10, place: 2 }], dimensions);
    expect(made.map(({ start, end, cls }) => `${line.slice(start, end)} ${cls}`)).toEqual(["a name", ":f32[ type", "64 axis", ", type", "8 axis", "] type"]);
    const node = document.createElement("span");
    made[2]?.drawn?.(node);
    expect(node.title).toBe("hidden <b>");
    expect(node.style.getPropertyValue("--jxs-h")).not.toBe("");
  });

  it("are those that the kernel tells of: what overlaps, or is of no dimension, is not shown", async () => {
    const made = columnsReply({ row: [3, 3, 3, 4, 5], start: [6, 7, 9, 2, 2], end: [8, 9, 10, 3, 1], place: [0, 1, 2, 9, 0] });
    const read = await readDimensions({ ...made, result: { ...RESULT, ...made.result } });
    expect([...read.inJaxpr]).toEqual([[3, [{ start: 6, end: 8, place: 0 }, { start: 9, end: 10, place: 2 }]]]);
  });

  it("are marked once the tab knows them, in the jaxpr alone", async () => {
    const selection = new Session(new FakeKernel()).selection;
    const found = { dimensions, inJaxpr: new Map([[0, [{ start: 6, end: 8, place: 1 }]]]) } as unknown as Dimensions;
    markJaxpr(selection, 0, found);
    const { marked } = selection.get();
    expect(marked.get(0)?.("jaxpr", 0, tokens)).toHaveLength(4);
    expect(marked.get(0)?.("hlo", 0, tokens)).toBe(tokens);
    markJaxpr(selection, 0, found);
    expect(selection.get().marked).toBe(marked);
    selection.forget();
    expect(selection.get().marked.size).toBe(0);
  });
});
