// @vitest-environment happy-dom
import { readFileSync, readdirSync } from "node:fs";
import { render } from "preact";
import { afterEach, expect, it } from "vitest";
import { Cell } from "../src/parts/grid/cell";
import { Said } from "../src/parts/said";
import { mount } from "../src/hosts/mount";
import { Session } from "../src/model/session";
import { readState } from "../src/wire/state";
import { textColumn } from "../src/wire/tables";
import fixture from "./fixtures/loss.json";
import { $, FakeKernel } from "./kernel";

let unmount: (() => void) | undefined;
afterEach(() => unmount?.());

const drawn = (node: Parameters<typeof render>[0]): HTMLElement => {
  const host = document.createElement("div");
  render(node, host);
  return host;
};

it("what stands between back-quotes is code", () => {
  const host = drawn(<Said text="`%profile f(x)` measures it; <b> is `text`." />);
  expect([...host.querySelectorAll("code")].map((one) => one.textContent)).toEqual(["%profile f(x)", "text"]);
  expect(host.textContent).toBe("%profile f(x) measures it; <b> is text.");
  expect(drawn(<Said text="a lone ` stays" />).textContent).toBe("a lone ` stays");
});

it("so it is in the head's notes and in sentences of a table, while names and code stay as they are", () => {
  const kernel = new FakeKernel();
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, notes: ["Call `jax.jit` once."] }] });
  unmount = mount(new Session(kernel), document.body);
  expect($(".jxs-head-notes > .jxs-note")?.textContent).toBe("Call jax.jit once.");
  expect($(".jxs-head-notes > .jxs-note")?.title, "no tooltip has raw back-quotes").toBe("Call jax.jit once.");
  const cell = (more: object) => drawn(<Cell field={{ ...textColumn("how", ["use `f`"]), ...more }} row={0} most={0} isFirst={false} isLink={false} tabIndex={-1} />);
  expect([cell({ wraps: true }), cell({ isAnswer: true }), cell({ isCode: true }), cell({})].map((one) => one.textContent)).toEqual(["use f", "use f", "use `f`", "use `f`"]);
});

it("what is linked is named by the last stage", () => {
  const kernel = new FakeKernel();
  const { documents = [] } = fixture[0]?.summary ?? {};
  const linked = [documents, documents.filter(({ kind }) => kind !== "hlo")].map((shown) => {
    kernel.now = readState({ calls: [{ ...fixture[0]?.summary, documents: shown }] });
    unmount?.();
    unmount = mount(new Session(kernel), document.body);
    return $(".jxs-linked .jxs-label")?.textContent;
  });
  expect(linked).toEqual(["instructions linked", "ops linked"]);
});

/** Sentences of the kernel's in the sources, as they must not stand: as they are. */
const RAW = /(?<![=\w])\{(?:note|headline|(?:answer|memory|wait|warning|trial)\.text|error\.explanation|\w+\.(?:headline|advice))\}/;

it("no view shows a sentence of the kernel's as it is", () => {
  const all = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".tsx"));
  expect(all.filter((path) => RAW.test(readFileSync(`src/${path}`, "utf8")))).toEqual([]);
  expect(RAW.test("<p>{note}</p>") && !RAW.test("<Said text={note} />") && !RAW.test('<p key={note} title={note}>')).toBe(true);
});
