// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Session } from "../../src/model/session";
import type { Params, Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import AnswersView from "../../src/tabs/answers/view";
import fixture from "../fixtures/loss.json";
import { $, $$, FakeKernel, click, soon } from "../kernel";
import { within } from "../within";

let kernel: FakeKernel;
let session: Session;
let place: HTMLElement;

const ANSWERS: Record<string, Record<string, unknown>> = {
  bound: { text: "Bound by memory: 93%", line: "", row: 4, state: "", view: "cost" },
  fit: { text: "Does not fit: it needs 90 GB", line: "", row: -1, state: "no", view: "memory" },
  memory: { text: "<img src=x onerror=alert(1)>", line: 7, row: "x", state: "<b>", view: "nowhere" },
};

beforeEach(async () => {
  kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, views: ["code", "answers", "cost", "memory"] }] });
  kernel.answers = {
    answer: ({ question }: Params): Reply => {
      const result = ANSWERS[String(question)];
      if (!result) throw new Error("JaxRuntimeError: the compiler could not be asked");
      return { result, buffers: [] };
    },
  };
  session = new Session(kernel);
  place = document.body.appendChild(document.createElement("div"));
  render(within(session, <AnswersView />), place);
  await soon(() => expect($$(".jxs-answer").length).toBe(3));
});
afterEach(() => {
  render(null, place);
  place.remove();
});

const section = (name: string) => $(`[data-question="${name}"]`);

describe("the answers", () => {
  it("are a sentence each; what fits or does not is marked", () => {
    expect($$(".jxs-question h4").map((head) => head.textContent)).toEqual([
      "What bounds it?",
      "Does it fit?",
      "Which line holds the most memory?",
      "Which collective costs the most?",
      "Which line takes the time, and is the device idle?",
    ]);
    expect(section("bound")?.textContent).toContain("Bound by memory: 93%");
    expect(section("fit")?.querySelector(".jxs-answer")?.textContent).toBe("✕ Does not fit: it needs 90 GB");
  });

  it("lead to the tab that has it in full, and to the code", () => {
    click(section("bound")?.querySelector(".jxs-boxed") ?? null);
    expect(session.selection.get().view).toBe("cost");
    click(section("bound")?.querySelector(".jxs-link") ?? null);
    expect(session.selection.get()).toMatchObject({ view: "code", selected: { doc: "hlo", row: 4 } });
  });

  it("stay text, whatever the kernel sends", () => {
    expect(section("memory")?.querySelector("img")).toBeNull();
    expect(section("memory")?.querySelector(".jxs-answer")?.textContent).toBe("<img src=x onerror=alert(1)>");
    expect(section("memory")?.querySelectorAll("button").length).toBe(0);
  });

  it("are told one by one: where one fails, the others stand", async () => {
    await soon(() => expect(section("collective")?.querySelector('[role="alert"]')?.textContent).toContain("could not be asked"));
  });
});
