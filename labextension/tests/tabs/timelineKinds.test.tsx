// @vitest-environment happy-dom
import { afterEach, expect, it } from "vitest";
import { render } from "preact";
import { Session } from "../../src/model/session";
import { useQuestion } from "../../src/parts/hooks";
import { Head } from "../../src/tabs/timeline/head";
import { KindChoice, OfKind } from "../../src/tabs/timeline/kinds";
import { lanesInWords } from "../../src/tabs/timeline/lanesInWords";
import { TimelineModel } from "../../src/tabs/timeline/model";
import { readHead } from "../../src/tabs/timeline/tableRead";
import type { Params, Reply } from "../../src/wire/source";
import { $, $$, FakeKernel, click, soon } from "../kernel";
import { within } from "../within";
import { lane, overview, tile } from "./timelineTiles";

afterEach(() => render(null, document.body));

const only = (result: Record<string, unknown>): Reply => ({ result, buffers: [] });
const PAYLOAD = "Predicted for h100:8, nothing ran: <img src=x onerror='window.pwned=1'>";

function Asks() {
  const question = useQuestion("timeline head", {}, readHead);
  return <p>{question.value?.headline}</p>;
}

it("below a choice all questions are of that timeline", async () => {
  const kernel = new FakeKernel();
  const asked: Params[] = [];
  kernel.answers["timeline head"] = (params) => (asked.push(params), only({ headline: String(params.of) }));
  const session = new Session(kernel);
  render(within(session, <OfKind kind="predicted"><Asks /></OfKind>), document.body);
  await soon(() => expect($("p")?.textContent).toBe("predicted"));
  expect(asked).toEqual([{ call: 0, of: "predicted" }]);
});

it("with two timelines there is a choice, with one there is none", () => {
  const chosen: string[] = [];
  render(<KindChoice kinds={["measured"]} now="measured" onChoose={() => {}} />, document.body);
  expect($("button")).toBeNull();
  render(<KindChoice kinds={["measured", "predicted", "__proto__"]} now="measured" onChoose={(kind) => chosen.push(kind)} />, document.body);
  expect($$("button").map((one) => [one.textContent, one.getAttribute("aria-pressed")])).toEqual([["Measured", "true"], ["Predicted", "false"]]);
  click($$("button")[1]);
  expect(chosen).toEqual(["predicted"]);
});

it("a prediction says so at its head and in words; what was measured does not", () => {
  render(<Head head={readHead(only({ predicted: PAYLOAD, headline: "one" }))} />, document.body);
  expect($("[role=note]")?.textContent).toBe(PAYLOAD);
  expect($("img")).toBeNull();
  render(<Head head={readHead(only({ headline: "one" }))} />, document.body);
  expect($("[role=note]")).toBeNull();
  const session = new Session(new FakeKernel());
  const words = (predicted: boolean) => lanesInWords(new TimelineModel(session.documents, session.selection, session.questions, overview([lane(0)], tile([]), { predicted })), []);
  expect(words(true)).toContain("that are drawn of a prediction");
  expect(words(false)).toContain("of a profile of");
});
