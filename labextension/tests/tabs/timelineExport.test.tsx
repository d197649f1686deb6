// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { render } from "preact";
import { Session } from "../../src/model/session";
import { Store } from "../../src/model/observable";
import { ExportMenu } from "../../src/tabs/timeline/exportMenu";
import type { TimelineModel } from "../../src/tabs/timeline/model";
import { $, FakeKernel, soon } from "../kernel";
import { within } from "../within";

const menu = () => $(".jxs-tl-export") as HTMLDetailsElement;

beforeEach(async () => {
  const model = { store: new Store({ range: null }), now: { visible: { from: 0, to: 1 } } };
  render(within(new Session(new FakeKernel()), <ExportMenu model={model as unknown as TimelineModel} />), document.body);
  await soon(() => expect(menu()).not.toBeNull());
  await new Promise((done) => setTimeout(done, 50));
  menu().setAttribute("open", "");
});
afterEach(() => {
  render(null, document.body);
  vi.restoreAllMocks();
});

it("Escape closes the export menu, wherever in it the focus is", () => {
  const chrome = $('[data-export="chrome"]') as HTMLElement;
  chrome.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
  expect(menu().hasAttribute("open")).toBe(true);
  chrome.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect(menu().hasAttribute("open")).toBe(false);
});

it("a press outside the export menu closes it, one inside does not", () => {
  ($('[data-export="svg"]') as HTMLElement).dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
  expect(menu().hasAttribute("open")).toBe(true);
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
  expect(menu().hasAttribute("open")).toBe(false);
});
