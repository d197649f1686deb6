// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { render } from "preact";
import { Session } from "../../src/model/session";
import { cellText } from "../../src/parts/grid/sort";
import { grewAt, readComparison } from "../../src/tabs/timeline/compareRead";
import { copied, factsOf, readEvent } from "../../src/tabs/timeline/eventRead";
import { EventStrip } from "../../src/tabs/timeline/eventStrip";
import { Head } from "../../src/tabs/timeline/head";
import { Search, focusSearch } from "../../src/tabs/timeline/search";
import { PAGE, firstFrom, nextHit, placeOf, readHits } from "../../src/tabs/timeline/searchRead";
import { TABLES, deviceWords, lossWords, readHead, readTimelineTable } from "../../src/tabs/timeline/tableRead";
import { Tables } from "../../src/tabs/timeline/tables";
import type { Params, Reply } from "../../src/wire/source";
import { gz } from "../helpers";
import { tableReply } from "./tableReply";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { within } from "../within";

const only = (result: Record<string, unknown>): Reply => ({ result, buffers: [] });
const floats = (...values: number[]) => gz(new Uint8Array(Float64Array.from(values).buffer));
const wholes = (...values: number[]) => gz(new Uint8Array(Int32Array.from(values).buffer));
const PAYLOAD = "<img src=x onerror='window.pwned=1'>";

const LINES = (more: Record<string, unknown> = {}): Reply =>
  tableReply(
    {
      line: { title: "line", cells: ["In [1]:2", PAYLOAD] },
      code: { title: "code", cells: ["y = f(x): z", null] },
      share: { title: "share", unit: "share", cells: [0.62, 0.004] },
      busy: { title: "busy", unit: "s", cells: [57.4e-3, 1e-6] },
      "FLOP/s": { title: "FLOP/s", unit: "FLOP/s", cells: [2e9, null], why: [null, "no HLO"] },
      row: { cells: [3, -1] },
    },
    { total: 5, notes: ["a note"], spans: [], ...more },
  );

const HITS = (first: number, total: number, starts: number[]): Reply => ({
  result: {
    query: "k",
    total,
    first,
    columns: ["event", "lane", "start", "duration", "row", "look"].map((name) => ({ name, dtype: name === "start" || name === "duration" ? "f8" : "i4" })),
  },
  buffers: [
    wholes(...starts.map((_, i) => first + i + 10)),
    wholes(...starts.map(() => 4)),
    floats(...starts),
    floats(...starts.map(() => 0.5)),
    wholes(...starts.map(() => 1)),
    wholes(7, 8, 9),
  ],
});

const EVENT = {
  event: 3,
  name: PAYLOAD,
  kind: "kernel",
  start: 1.5,
  duration: 4e-6,
  self: 4e-6,
  lane: "GPU 0, Stream #13",
  op: "dot.1",
  line: "In [1]:2",
  code: "y = f(x)",
  row: 4,
  partner: { event: 1, name: "cuLaunchKernel", words: "launched by cuLaunchKernel; the work starts 4 µs after the launch does" },
  after: { event: 5, name: "next", start: 2, duration: 1 },
  fields: [{ name: "kernel_details", value: "regs:2191500840 grid:1,1,1", doubtful: ["regs:2191500840"] }],
  left_out: 2,
};

describe("what the kernel says of a timeline", () => {
  it("a share is per cent, the unknown has its reason, code is told by its beginning", async () => {
    const { grid, hloRows, total } = await readTimelineTable(LINES());
    const field = (name: string) => grid.fields.find((one) => one.name === name) ?? expect.fail(name);
    expect([0, 1].map((row) => cellText(field("share"), row))).toEqual(["62%", "<1%"]);
    const rate = field("FLOP/s");
    expect(rate.kind === "number" && [cellText(rate, 0), cellText(rate, 1), rate.why?.(1)]).toEqual(["2 GFLOP/s", "unknown", "no HLO"]);
    expect(field("code")).toMatchObject({ isCode: true });
    expect(cellText(field("code"), 1)).toBe("");
    expect([...hloRows, total]).toEqual([3, -1, 5]);
  });

  it("rubbish in replies becomes nothing", async () => {
    expect(readHead(only({ devices: 7, losses: [null, 3], modes: "x", tables: {} }))).toMatchObject({ devices: [], modes: [], tables: [] });
    expect((await readTimelineTable(LINES({ length: "x", spans: [[2, 1], "a", [0, 1]] }))).spans).toEqual([null, null, { from: 0, to: 1 }]);
    expect((await readHits({ result: { columns: null }, buffers: [] })).total).toBe(0);
    expect(readEvent(only({ partner: "x", parent: 3, fields: "y" }))).toMatchObject({ partner: null, parent: null, own: [] });
  });

  it("offers a table of ranges, whose names are told by their beginning", () => {
    expect(TABLES.map(([name]) => name)).toContain("ranges");
    expect(readHead(only({ tables: ["ranges"] })).tables).toEqual(["ranges"]);
  });

  it("says what is unknown of a device and of a loss", () => {
    const device = { name: "GPU 0", busy: 4.2e-3, idle: null, exposed: 0, window: 6.1e-3, about: "" };
    expect(deviceWords(device)).toBe("GPU 0: busy 4.2 ms of 6.1 ms, idle unknown");
    expect(lossWords({ text: "cut", count: null })).toBe("an unknown number of events: cut");
  });

  it("a change has its sign and its share of what there was", async () => {
    const reply = tableReply(
      { before: { title: "before", unit: "s", cells: [2e-3, 0] }, change: { title: "change", unit: "s", cells: [-1e-3, 5e-6] } },
      { parts: [{ key: "step 0", title: "0: train", seconds: 1 }] },
    );
    const table = await readComparison(reply);
    const change = table.grid.fields[1] ?? expect.fail();
    expect([0, 1].map((row) => cellText(change, row))).toEqual(["−1 ms (−50%)", "+5 µs"]);
    expect([0, 1].map((row) => grewAt(table, row))).toEqual([-1, 1]);
  });

  it("hits go round; the first is the one on screen or after it", async () => {
    expect([nextHit(3, 2, 1), nextHit(3, 0, -1), nextHit(3, -1, 1), nextHit(3, -1, -1), nextHit(0, -1, 1)]).toEqual([0, 2, 0, 2, -1]);
    const hits = await readHits(HITS(2000, 2003, [1, 2, 3]));
    expect([firstFrom(hits, 0), firstFrom(hits, 2), firstFrom(hits, 2.5), firstFrom(hits, 9)]).toEqual([2000, 2001, 2002, -1]);
    expect(placeOf(hits, 1)).toEqual({ event: 2011, lane: 4, row: 1, start: 2, seconds: 0.5 });
    expect([...hits.looks]).toEqual([7, 8, 9]);
  });

  it("an event is copied as text, with what is not plausible", () => {
    const about = readEvent(only(EVENT));
    expect(copied(about)).toContain("kernel_details: regs:2191500840 grid:1,1,1 (not plausible: regs:2191500840)");
    expect(copied(about)).toContain("line: In [1]:2  y = f(x)");
    expect(factsOf(about).map(([name]) => name)).not.toContain("self");
  });
});

describe("what stands around the lanes", () => {
  let kernel: FakeKernel;
  let session: Session;
  const done = vi.fn();

  beforeEach(() => {
    kernel = new FakeKernel();
    session = new Session(kernel);
    done.mockReset();
  });
  afterEach(() => {
    render(null, document.body);
    document.body.innerHTML = "";
  });

  const tables = (range: { from: number; to: number } | null, names = ["lines", "gaps"]) =>
    render(
      within(session, <Tables names={names} range={range} onClear={() => done("clear")} onGo={(span) => done(span)} />),
      document.body,
    );

  it("names are text, in tables, the head and the strip", async () => {
    kernel.answers["timeline table"] = () => LINES();
    tables(null);
    await soon(() => expect($$("tbody tr").length).toBe(2));
    expect($("tbody")?.textContent).toContain(PAYLOAD);
    render(<Head head={readHead(only({ headline: PAYLOAD, kept: PAYLOAD, losses: [{ text: PAYLOAD, count: 1 }], modes: [PAYLOAD], devices: [{ name: PAYLOAD }] }))} />, document.body);
    expect(document.body.textContent).toContain(PAYLOAD);
    kernel.answers["timeline detail"] = () => only(EVENT);
    render(within(session, <EventStrip event={3} isPredicted={false} onEvent={done} onClose={done} />), document.body);
    await soon(() => expect($(".jxs-tl-event-name")?.textContent).toBe(PAYLOAD));
    expect($("img")).toBeNull();
  });

  it("of a range the tables are of that range, say so, and can be cleared", async () => {
    const asked: Params[] = [];
    kernel.answers["timeline table"] = (params) => (asked.push(params), LINES());
    tables({ from: 1, to: 1.5 });
    await soon(() => expect($(".jxs-tl-range")?.textContent).toContain("of the 500 ms selected, events clipped to it"));
    await soon(() => expect($$("tbody tr").length).toBe(2));
    expect(asked[0]).toMatchObject({ table: "lines", from: 1, to: 1.5 });
    click($(".jxs-tl-range button"));
    expect(done).toHaveBeenCalledWith("clear");
    expect($(".jxs-note")?.textContent ?? "").toBe("3 more, all smaller.");
  });

  it("a click on a gap shows it, on another row selects its instruction", async () => {
    kernel.answers["timeline table"] = ({ table }) => LINES(table === "gaps" ? { spans: [[0.25, 0.5], [1, 2]] } : {});
    tables(null);
    await soon(() => expect($$("tbody tr").length).toBe(2));
    click($$("tbody tr")[0]);
    expect(session.selection.get().selected).toMatchObject({ doc: "hlo", row: 3 });
    click($('[data-table="gaps"]'));
    await soon(() => expect($('[aria-label="timeline gaps"]')).not.toBeNull());
    click($$("tbody tr")[1]);
    expect(done).toHaveBeenCalledWith({ from: 1, to: 2 });
  });

  it("the first of the tables that name something opens, until another is chosen", async () => {
    const asked: unknown[] = [];
    kernel.answers["timeline table"] = ({ table }) => (asked.push(table), LINES({ spans: [] }));
    tables(null, ["kernels", "gaps"]);
    await soon(() => expect(asked).toEqual(["kernels"]));
    click($('[data-table="gaps"]'));
    await soon(() => expect(asked).toEqual(["kernels", "gaps"]));
  });

  it("a search that Escape has emptied stays empty when it is drawn anew", async () => {
    kernel.answers["timeline search"] = () => HITS(0, 1, [1]);
    const draw = () => render(within(session, <Search from={() => 0} onHits={() => undefined} onGo={() => undefined} />), document.body);
    const box = () => $(".jxs-tl-search-box") as HTMLInputElement;
    draw();
    box().value = "gemm";
    box().dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect($("[role=status]")?.textContent).toBe("1 hit"));
    render(null, document.body);
    draw();
    expect(box().value, "what is searched for is kept").toBe("gemm");
    key(box(), "Escape");
    await soon(() => expect(box().value).toBe(""));
    render(null, document.body);
    draw();
    expect(box().value).toBe("");
  });

  it("the search goes from hit to hit, over the pages, and / goes to its box", async () => {
    kernel.answers["timeline search"] = ({ page }) => (page === 0 ? HITS(0, PAGE + 1, [1, 2]) : HITS(PAGE, PAGE + 1, [9]));
    const went: number[] = [];
    render(
      within(
        session,
        <div onKeyDown={focusSearch}>
          <i id="elsewhere" />
          <Search from={() => 1.5} onHits={(hits) => done(hits?.total)} onGo={({ start }) => went.push(start)} />
        </div>,
      ),
      document.body,
    );
    key($("#elsewhere"), "/");
    const box = $(".jxs-tl-search-box") as HTMLInputElement;
    expect(document.activeElement).toBe(box);
    box.value = "k";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await soon(() => expect($("[role=status]")?.textContent).toBe(`${(PAGE + 1).toLocaleString("en-US")} hits`));
    key(box, "Enter");
    await soon(() => expect(went).toEqual([2]));
    key(box, "Enter", { shiftKey: true });
    await soon(() => expect(went).toEqual([2, 1]));
    key(box, "Enter", { shiftKey: true });
    await soon(() => expect(went).toEqual([2, 1, 9]));
    expect($("[role=status]")?.textContent).toBe(`${(PAGE + 1).toLocaleString("en-US")} of ${(PAGE + 1).toLocaleString("en-US")} hits`);
  });

  it("what an estimate rests on is open, and no field of a profile", async () => {
    kernel.answers["timeline detail"] = () => only({ ...EVENT, fields: [{ name: "time", value: "our lower bound", doubtful: [] }] });
    render(within(session, <EventStrip event={3} isPredicted onEvent={done} onClose={done} />), document.body);
    await soon(() => expect($("details dd")?.textContent).toBe("our lower bound"));
    expect($("details")?.hasAttribute("open")).toBe(true);
    expect($("details")?.textContent).not.toContain("profile");
  });

  it("what is not plausible is open and marked; a partner is a link", async () => {
    kernel.answers["timeline detail"] = () => only(EVENT);
    render(within(session, <EventStrip event={3} isPredicted={false} onEvent={done} onClose={done} />), document.body);
    await soon(() => expect($(".jxs-badge-inferred")?.textContent).toBe("not plausible: regs:2191500840"));
    expect($("details")?.hasAttribute("open")).toBe(true);
    click($$(".jxs-tl-neighbours .jxs-link")[0]);
    expect(done).toHaveBeenCalledWith(1);
  });
});
