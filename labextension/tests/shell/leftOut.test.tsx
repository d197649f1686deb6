// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import fixture from "../fixtures/loss.json";
import { columnsReply, gz } from "../helpers";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";

const LINES = fixture[0]?.summary.documents.find(({ kind }) => kind === "python")?.lines ?? 0;
const WHOLE = ["# model.py", "import jax", "SECRET = 1", "", "def f(x):"];
let kernel: FakeKernel;
let unmount: () => void;

/** The source's row 2 stands for lines 2 to 4, after line 1. */
function columns({ doc }: Params): Reply | undefined {
  const rows = doc === "python:" ? WHOLE.length : LINES;
  const each = (value: number | ((row: number) => number)) => Array.from({ length: rows }, (_, row) => (typeof value === "number" ? value : value(row)));
  const [none, file] = [each(-1), each(0)];
  const column = { frame: none, fold_end: none, scope: none, file };
  if (doc === "python:") return columnsReply({ ...column, flags: each(0), number: each((row) => row || -1) });
  const number = each((row) => (row === 0 || row === 2 ? -1 : row === 1 ? 1 : row + 2));
  return doc === "python" ? columnsReply({ ...column, flags: each((row) => (row === 2 ? 8 : 0)), number }) : undefined;
}

beforeEach(() => {
  kernel = new FakeKernel();
  kernel.answers.columns = columns as (params: Params) => Reply;
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(640);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1400);
});

afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

async function leftOut(): Promise<Element> {
  unmount = mount(new Session(kernel), document.body);
  await soon(() => expect($$("[data-doc=python] .jxs-left-out").length).toBe(1));
  return $("[data-doc=python] .jxs-left-out .jxs-line") as Element;
}

const panes = () => $$(".jxs-pane").map((pane) => pane.dataset.doc);

it("opens the whole files at the first line that is left out, beside the source", async () => {
  kernel.answers.library = () => ({ result: { kind: "python:", title: "whole source files", lines: WHOLE.length, bytes: 1, mode: "full" }, buffers: [] });
  kernel.answers.document = (({ doc }: Params) =>
    doc === "python:" ? { result: { mode: "full" }, buffers: [gz(WHOLE.join("\n"))] } : undefined) as (params: Params) => Reply;
  click(await leftOut());
  await soon(() => expect(panes().slice(0, 2)).toEqual(["python", "python:"]));
  await soon(() => expect($('[data-doc="python:"] .jxs-selected .jxs-line')?.textContent).toBe("SECRET = 1"));
});

it("says on a page without a kernel that the rest was not saved, with the keyboard too", async () => {
  const row = await leftOut();
  click(row);
  await soon(() => expect($(".jxs-message")?.textContent).toContain("Only the functions that took part are saved"));
  const before = panes();
  key($("[data-doc=python] .jxs-code"), "Enter");
  expect(panes()).toEqual(before);
  expect($("[data-doc=python] .jxs-selected")).toBeNull();
});
