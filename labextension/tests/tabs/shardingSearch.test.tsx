// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { Session } from "../../src/model/session";
import { along, axesOf, drawnRows, frontOf, looksOf, marksOf, placesOf, rowAt, toX, toY } from "../../src/tabs/sharding_search/layoutMap";
import { tipLines } from "../../src/tabs/sharding_search/mapView";
import { type Found, readSearch } from "../../src/tabs/sharding_search/read";
import ShardingSearchView from "../../src/tabs/sharding_search/view";
import type { Reply } from "../../src/wire/source";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { replyOf } from "../recorded";
import { within } from "../within";

const found = async (): Promise<Found> => (await readSearch(replyOf("sharding_search"))).found as Found;
const all = () => true;

test("the best, the user's own and the front are where the kernel says", async () => {
  const { layouts, best, own, bests, capacity } = await found();
  expect([best, own, bests, capacity, layouts.length]).toEqual([0, 4, [0, 1, 2, 3, 5], 16e9, 6]);
  expect(frontOf(layouts)).toEqual([0, 2]);
});

test("left is faster, down is smaller, and a reach of more than ten times is logarithmic", async () => {
  const shown = await found();
  const axes = axesOf(shown, 600, 300);
  expect([axes.x.isLog, axes.y.isLog]).toEqual([false, true]);
  expect(toX(axes, 0.1)).toBeLessThan(toX(axes, 0.2));
  expect(toY(axes, 2e9)).toBeGreaterThan(toY(axes, 4e9));
  expect(toY(axes, 1e9) - toY(axes, 2e9)).toBeCloseTo(toY(axes, 2e9) - toY(axes, 4e9));
  expect(marksOf(axes.y, 5)).toEqual([2e9, 5e9, 1e10, 2e10].filter((value) => Math.log10(value) < axes.y.span.to));
});

test("the pointer finds the nearest shown layout; arrows stay on the front", async () => {
  const { layouts } = await found();
  const shown = await found();
  const places = placesOf(layouts, axesOf(shown, 600, 300));
  const [x, y] = [places.x[3] as number, places.y[3] as number];
  expect(rowAt(places, all, x + 3, y)).toBe(3);
  expect(rowAt(places, (row) => row !== 3, x, y)).toBe(-1);
  expect([along(layouts, 0, 1), along(layouts, 2, 1), along(layouts, 2, -1), along(layouts, 3, 1)]).toEqual([2, 2, 0, 2]);
});

test("what lies on one place with the same look is drawn once, and the slowest first", async () => {
  const shown = await found();
  const places = placesOf(shown.layouts, axesOf(shown, 600, 300));
  expect(drawnRows(shown, places, looksOf(shown), all, 600)).toEqual([5, 4, 3, 2, 1, 0]);
  places.x[4] = places.x[0] as number;
  places.y[4] = places.y[0] as number;
  expect(drawnRows(shown, places, looksOf(shown), all, 600)).toContain(4); // one is compiled, the other is not
  shown.layouts.state[4] = shown.layouts.state[0] as number;
  expect(drawnRows(shown, places, looksOf(shown), all, 600)).not.toContain(4);
});

test("what the pointer is on is told with its times and its memory", async () => {
  expect(tipLines(await found(), 4).slice(0, 3)).toEqual(["data × tensor: batch over data=2, hidden over model=4 (your own specs)", "mesh data=2,model=4", expect.stringMatching(/^168 ms a call, between 100 ms and 190 ms; vs. best 1\.9x$/)]);
});

test("what the kernel sends is read with care", async () => {
  const damaged = await readSearch({ result: { searched: true, best: 99, own: "x", bests: [7, null], capacity: -1, columns: 3 }, buffers: [] });
  expect([damaged.found?.best, damaged.found?.bests, damaged.found?.capacity, damaged.found?.layouts.length]).toEqual([-1, [], null, 0]);
});

let kernel: FakeKernel;
let place: HTMLElement | null = null;

function open(reply: () => Reply, isSaved = false): void {
  kernel = new FakeKernel();
  kernel.answers.sharding_search = reply;
  kernel.answers.sharding_search_layout = () => replyOf("sharding_search_layout");
  place = document.body.appendChild(document.createElement("div"));
  render(within(new Session(Object.assign(kernel, { isSaved })), <ShardingSearchView />), place);
}

afterEach(() => {
  if (place) render(null, place);
  place?.remove();
  place = null;
});

describe("a search", () => {
  beforeEach(async () => {
    open(() => replyOf("sharding_search"));
    await soon(() => expect($(".jxs-ss-detail")).not.toBeNull());
  });

  it("says first which to take, and by how much", () => {
    expect($(".jxs-headline")?.textContent).toMatch(/^Take data × tensor: .* 1\.9x as fast as your own specs/);
    expect($$(".jxs-ss-list tbody tr").map((row) => row.querySelectorAll("td")[1]?.textContent)).toEqual(["best", "1.1x", "1.3x", "1.4x", "1.9x", "6.9x"]);
    expect($$(".jxs-ss-list .jxs-ss-mesh").map((mesh) => mesh.innerHTML)).toContain("data=4,<wbr>model=2"); // breaks between axes, never in a name
    expect($(".jxs-ss-own")?.textContent).toContain("yours");
  });

  it("has the chosen layout's specs and it as code", () => {
    expect($(".jxs-ss-pasted pre")?.textContent).toContain("in_specs");
    expect($(".jxs-ss-detail")?.textContent).toContain("P(None, 'model')");
  });

  it("hides a kind and shows it again", async () => {
    const kind = $(".jxs-ss-kind");
    click(kind);
    await soon(() => expect($(".jxs-ss-kind")?.getAttribute("aria-pressed")).toBe("false"));
  });

  it("asks for the layout that arrows lead to", async () => {
    const before = kernel.asked.length;
    key($(".jxs-ss-map canvas[tabindex]"), "ArrowRight");
    await soon(() => expect(kernel.asked.slice(before)).toContain("sharding_search_layout"));
  });
});

it("lists the collectives of a layout with bytes, time and line, those beyond in one row, and says what times count", async () => {
  open(() => replyOf("sharding_search"));
  const { result, buffers } = replyOf("sharding_search_layout");
  const gather = { kind: "all-gather", over: "data", count: 12, bytes: 3e9, seconds: 0.02, line: "In [1]:4 <i>", gradient: false };
  const collectives = [gather, { ...gather, kind: "all-reduce", count: 1, seconds: 1e-12, line: "", gradient: true }, { kind: "", bytes: 4, seconds: null }];
  kernel.answers.sharding_search_layout = () => ({ result: { ...result, collectives, counted: "Compute: products." }, buffers });
  await soon(() => expect($(".jxs-ss-collectives")).not.toBeNull());
  const rows = $$(".jxs-ss-collectives tbody tr").map((row) => [...row.children].map((cell) => cell.textContent));
  expect(rows).toEqual([
    ["12 all-gather over data", "3 GB", "20 ms", "In [1]:4 <i>"],
    ["gradient all-reduce over data", "3 GB", "<1 ns", "line unknown"],
    ["all others", "4 B", "unknown", ""],
  ]);
  expect($(".jxs-ss-detail")?.textContent).toContain("Compute: products.");
});

it("a saved notebook shows it and offers nothing that takes a kernel", async () => {
  open(() => replyOf("sharding_search"), true);
  await soon(() => expect($(".jxs-ss-detail")).not.toBeNull());
  expect($$("button").map((one) => one.textContent).filter((text) => /Compile|Open|Search/.test(text ?? ""))).toEqual([]);
});

it("without a search one is offered, with what it takes; where there is nothing to search, why", async () => {
  open(() => ({ result: { searched: false, offer: "Scores every layout", usual: { mesh: "", budget: 60 }, cannot: "" }, buffers: [] }));
  await soon(() => expect($(".jxs-ss-form")).not.toBeNull());
  render(null, place as unknown as HTMLElement);
  open(() => ({ result: { searched: false, cannot: "it has one device" }, buffers: [] }));
  await soon(() => expect($(".jxs-note")?.textContent).toBe("it has one device"));
});
