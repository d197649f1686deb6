// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, expect, test } from "vitest";
import { Passes } from "../../src/tabs/passes/list";
import { readPasses } from "../../src/tabs/passes/read";
import { $, $$ } from "../kernel";

afterEach(() => render(null, document.body));

function shown(seconds: (number | null)[]): void {
  const passes = seconds.map((time, index) => ({
    index, pipeline: "simplification", name: `pass ${index}`, changed: true, seconds: time,
    instructions: -2, fusions: 1, bytes: 0, version: index + 1,
  }));
  const list = readPasses({ result: { title: "2 passes changed the module", complete: false, notes: [], passes }, buffers: [] });
  render(<Passes list={list} current={0} history={null} onPick={() => {}} onUnfollow={() => {}} />, document.body);
}

test("where no pass has a time, one sentence says so in place of a column", () => {
  shown([null, null]);
  expect($(".jxs-pass-side")?.classList.contains("jxs-untimed")).toBe(true);
  expect($(".jxs-pass-foot")?.textContent).toBe("2 passes changed the module; the time of every pass is unknown");
});

test("where one has, the column stays, with what is unknown in it", () => {
  shown([0.002, null]);
  expect($(".jxs-untimed")).toBeNull();
  expect($$(".jxs-pass-list .jxs-pass-time").map((cell) => cell.textContent)).toEqual(["2 ms", "unknown"]);
  expect($(".jxs-pass-foot")?.textContent).toBe("2 passes changed the module");
});
