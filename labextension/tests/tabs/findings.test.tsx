// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Session } from "../../src/model/session";
import { kindOf } from "../../src/tabs/findings/change";
import FindingsView from "../../src/tabs/findings/view";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, key, soon } from "../kernel";
import { replyOf as recordedReply } from "../recorded";
import { within } from "../within";

const DIFF = '--- In [2]\n+++ In [2], changed\n@@ -1,2 +1,2 @@\n-def loss(w, x):\n+def loss(w, x, table):\n     return x';
const finding = (more: Record<string, unknown> = {}) => ({
  key: "CAPTURED\nIn [1]:2\ntable",
  kind: "large captured constant",
  text: "`table` is captured: 16 MB <img src=x>",
  stake: "saves up to 16 MB, 50% of the memory needed",
  share: 0.5,
  line: "",
  rows: { hlo: [4, 5] },
  change: { code: DIFF, diff: true },
  certainty: "estimated",
  caveat: "Pass `table`.",
  more: "https://docs.jax.dev/en/latest/gotchas.html",
  tab: "memory",
  try: true,
  trial: null,
  ...more,
});
const replyOf = (result: Record<string, unknown>): Reply => ({
  result: { findings: [], looked: ["missing donation", "slow pass"], waiting: [], seconds: 0, failures: [], ...result },
  buffers: [],
});

let kernel: FakeKernel;
let session: Session;
let place: HTMLElement;

async function open(reply: (params: Params) => Reply, isSaved = false): Promise<void> {
  kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "findings", "memory"] }] });
  kernel.answers.findings = reply;
  session = new Session(Object.assign(kernel, { isSaved }));
  place = document.body.appendChild(document.createElement("div"));
  render(within(session, <FindingsView />), place);
  await soon(() => expect($(".jxs-findings")).not.toBeNull());
}

afterEach(() => {
  render(null, place);
  place.remove();
});

const heads = () => $$(".jxs-finding-head");
const button = (text: string) => $$("button, a").find((one) => one.textContent?.startsWith(text));

describe("the findings", () => {
  beforeEach(() => open(() => replyOf({ findings: [finding(), finding({ key: "b", text: "b", rows: { hlo: [9] }, change: null, try: false, more: "javascript:alert(1)" })] })));

  it("are a sentence each with what there is to gain; code in it is code, and all else text", () => {
    expect(heads()).toHaveLength(2);
    expect($(".jxs-finding-text code")?.textContent).toBe("table");
    expect($(".jxs-finding-text")?.textContent).toBe("table is captured: 16 MB <img src=x>");
    expect($(".jxs-finding-stake")?.textContent).toBe("saves up to 16 MB, 50% of the memory needed");
    expect($(".jxs-findings img")).toBeNull();
  });

  it("open with the change as a diff, why it may be wrong, and where to read more", () => {
    expect($(".jxs-finding-head")?.getAttribute("aria-expanded")).toBe("true");
    expect($$(".jxs-change ins").map((line) => line.textContent)).toEqual(["+def loss(w, x, table):\n"]);
    expect($$(".jxs-change del").map((line) => line.textContent)).toEqual(["-def loss(w, x):\n"]);
    expect($(".jxs-finding-caveat")?.textContent).toBe("Pass table.");
    expect((button("Read more") as HTMLAnchorElement).href).toBe("https://docs.jax.dev/en/latest/gotchas.html");
  });

  it("select their line everywhere when they are clicked, and open", async () => {
    click(heads()[1]);
    await soon(() => expect(heads()[1]?.getAttribute("aria-expanded")).toBe("true"));
    expect(session.selection.get().selected).toMatchObject({ doc: "hlo", row: 9, from: "findings" });
    expect(session.selection.get().view).not.toBe("code");
    expect(button("Read more"), "no address but a page's").toBeUndefined();
    expect(button("Try it")).toBeUndefined();
  });

  it("lead to the code and to the tab that has them in full", () => {
    click(button("Show in the code"));
    expect(session.selection.get()).toMatchObject({ view: "code", selected: { doc: "hlo", row: 4 } });
    click(button("Open Memory"));
    expect(session.selection.get().view).toBe("memory");
  });

  it("are gone through with arrows; Tab leads to one", () => {
    heads()[0]?.focus();
    key(heads()[0] as HTMLElement, "ArrowDown");
    expect(document.activeElement).toBe(heads()[1]);
    key(heads()[1] as HTMLElement, "Home");
    expect(document.activeElement).toBe(heads()[0]);
    expect(heads().map((head) => head.tabIndex)).toEqual([0, -1]);
  });

  it("are copied as they stand", async () => {
    const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
    click($('[aria-label="Copy the change"]'));
    await soon(() => expect(write).toHaveBeenCalledWith(DIFF));
  });
});

it("seven are shown at once, and all when somebody asks", async () => {
  await open(() => replyOf({ findings: Array.from({ length: 9 }, (_, at) => finding({ key: `${at}` })) }));
  expect(heads()).toHaveLength(7);
  click(button("Show all 9"));
  await soon(() => expect(heads()).toHaveLength(9));
});

it("a change is tried at a click, and a table says what really changed", async () => {
  const recorded = recordedReply("findings");
  const tried = (recorded.result.findings as Record<string, unknown>[])[0] as Record<string, unknown>;
  let isTried = false;
  await open(() => (isTried ? recorded : { ...recorded, result: { ...recorded.result, findings: [{ ...tried, trial: null }] } }));
  kernel.answers.try = () => {
    isTried = true;
    return { result: { outcome: "pays", text: "Tried." }, buffers: [] };
  };
  click(button("Try it"));
  await soon(() => expect($(".jxs-trial")).not.toBeNull());
  expect($$(".jxs-trial thead th").map((head) => head.textContent)).toEqual(["figure", "as written", "changed", "difference"]);
  const memory = $$(".jxs-trial tbody tr").find((row) => row.textContent?.startsWith("memory needed"));
  expect(memory?.children).toHaveLength(4);
  expect($('.jxs-finding-stake[data-outcome="pays"]')?.textContent).toContain((tried.trial as { text: string }).text);
  expect(button("Try it")).toBeUndefined();
});

it("what a saved notebook cannot do is not offered", async () => {
  await open(() => replyOf({ findings: [finding()], waiting: ["slow pass"], seconds: 2 }), true);
  expect($(".jxs-change")).not.toBeNull();
  expect($(".jxs-not-looked")?.textContent).toBe("Not looked for yet: slow pass.");
  expect(button("Try it") ?? button("Look for")).toBeUndefined();
});

it("where nothing is found it says among what", async () => {
  await open(() => replyOf({ failures: ["slow pass could not be read"] }));
  expect($(".jxs-looked summary")?.textContent).toBe("Nothing found among 2 kinds looked for");
  expect($$(".jxs-looked li").map((one) => one.textContent)).toEqual(["missing donation", "slow pass"]);
  expect($(".jxs-note")?.textContent).toBe("slow pass could not be read");
});

it("kinds that take a compile wait for a click, with their price", async () => {
  await open(({ all }) => replyOf(all ? { findings: [finding()], looked: ["a", "b", "c"] } : { waiting: ["slow pass"], seconds: 3.2 }));
  expect(button("Look for it")?.textContent).toBe("Look for it, up to about 3.2 s");
  click(button("Look for it"));
  await soon(() => expect(heads()).toHaveLength(1));
  expect($(".jxs-not-looked")).toBeNull();
});

it("lines of a diff are told by their signs, its head by its own", () => {
  expect(["--- a", "+++ b", "@@ -1 +1 @@", "-x", "+x", " x"].map(kindOf)).toEqual(["head", "head", "head", "removed", "added", ""]);
});

it("only what a trial contradicted is crossed out", async () => {
  const [first] = recordedReply("findings").result.findings as Record<string, object>[];
  const tried = (outcome: string) => finding({ key: outcome, stake: outcome, trial: { ...first?.trial, outcome } });
  await open(() => replyOf({ findings: ["pays", "makes it worse", "unknown"].map(tried) }));
  expect($$(".jxs-finding-stake s").map((struck) => struck.textContent).filter(Boolean)).toEqual(["makes it worse"]);
  expect($('.jxs-finding-stake[data-outcome="unknown"]')?.textContent).toContain("unknown");
});
