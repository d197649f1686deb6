// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from "vitest";
import { BUILD } from "jaxstage:build";
import stub from "../../src/hosts/stub";
import { importScript } from "../../src/wire/importScript";
import { fromKernel, offer } from "../../src/wire/panelModule";
import type { Model } from "../../src/wire/source";
import { gz } from "../helpers";

vi.mock("../../src/wire/importScript", () => ({ importScript: vi.fn() }));

class FakeModel implements Model {
  asked: { method: string; id: number; params: unknown }[] = [];
  private listeners: [string, (...args: never[]) => void][] = [];
  state: unknown = {};
  constructor(private answer: "answers" | "refuses" | "throws" | "waits") {}
  get = () => this.state;
  on(event: string, listener: (...args: never[]) => void) {
    this.listeners.push([event, listener]);
  }
  off(event: string, listener?: unknown) {
    this.listeners = this.listeners.filter(([name, one]) => name !== event || one !== listener);
  }
  emit(event: string, ...args: unknown[]) {
    for (const [name, listener] of [...this.listeners]) if (name === event) listener(...(args as never[]));
  }
  heal() {
    this.answer = "answers";
  }
  send(content: unknown) {
    if (this.answer === "throws") throw new Error("the comm is closed");
    const request = content as (typeof this.asked)[number];
    this.asked.push(request);
    if (this.answer === "waits") return;
    const reply = this.answer === "answers" ? { result: {} } : { error: { kind: "failed", message: "panel.js is missing" } };
    queueMicrotask(() => this.emit("msg:custom", { kind: "reply", id: request.id, ...reply }, [gz("js"), gz(".x {}")]));
  }
}

const unmount = vi.fn();
const forget = vi.fn();
const addStyle = vi.fn();
const module = () => ({
  addStyle,
  widget: () => ({
    initialize: vi.fn(() => forget),
    render: ({ el }: { el: HTMLElement }) => {
      el.append("drawn");
      return unmount;
    },
  }),
});

function drawn(model: Model, widget = stub()) {
  const el = document.createElement("div");
  const end = widget.initialize({ model });
  return { el, end, remove: widget.render({ model, el }) };
}

beforeEach(() => {
  vi.mocked(importScript).mockReset().mockImplementation(async () => module() as never);
  fromKernel().clear();
  offer(undefined);
});

test("the kernel is asked once a page, whichever panel is first", async () => {
  const [first, second] = [new FakeModel("answers"), new FakeModel("answers")];
  const views = [drawn(first), drawn(second)];
  await vi.waitFor(() => expect(views.map(({ el }) => el.textContent)).toEqual(["drawn", "drawn"]));
  expect([...first.asked, ...second.asked].map(({ method, params }) => [method, params])).toEqual([["script", { doc: "panel" }]]);
  views[0]?.remove();
  views[0]?.end();
  expect(addStyle.mock.calls).toEqual([["panel", ".x {}"]]);
  expect(unmount).toHaveBeenCalledTimes(1);
  expect(forget).toHaveBeenCalledTimes(1);
});

test("the extension's code is taken where it is of the same version", async () => {
  const model = new FakeModel("answers");
  offer(Object.assign(async () => module(), { version: BUILD }));
  const view = drawn(model);
  await vi.waitFor(() => expect(view.el.textContent).toBe("drawn"));
  expect(model.asked).toEqual([]);
});

test("the extension's code of another version is left alone", async () => {
  const model = new FakeModel("answers");
  offer(Object.assign(async () => module(), { version: "another" }));
  const view = drawn(model);
  await vi.waitFor(() => expect(view.el.textContent).toBe("drawn"));
  expect(model.asked).toHaveLength(1);
});

test("a kernel without the script says so, and Retry asks again", async () => {
  const model = new FakeModel("refuses");
  const { el } = drawn(model);
  await vi.waitFor(() => expect(el.textContent).toContain("panel.js is missing"));
  model.heal();
  el.querySelector("button")?.click();
  await vi.waitFor(() => expect(el.textContent).toBe("drawn"));
});

test("a panel whose kernel is gone does not stop another's, and is drawn when its own speaks", async () => {
  const [gone, there] = [new FakeModel("throws"), new FakeModel("answers")];
  const [first, second] = [drawn(gone), drawn(there)];
  await vi.waitFor(() => expect(first.el.textContent).toContain("The kernel did not answer"));
  await vi.waitFor(() => expect(second.el.textContent).toBe("drawn"));
  gone.heal();
  gone.emit("change:state");
  await vi.waitFor(() => expect(first.el.textContent).toBe("drawn"));
});

test("a view that was taken away before its code came draws nothing", async () => {
  const view = drawn(new FakeModel("answers"));
  view.remove();
  await fromKernel().get(BUILD);
  await Promise.resolve();
  expect(view.el.textContent).toBe("");
});

const waitingCall = (stages: object[], error: object | null = null) => ({ calls: [{ name: "<b>f</b>", target: "cpu:2", stages, error }] });
const TRACED = { name: "trace", state: "done", seconds: 0.0812 };

test("while the kernel is busy its state shows how far it is, as text, and the seconds tick", async () => {
  vi.useFakeTimers();
  const model = new FakeModel("waits");
  model.state = waitingCall([{ name: "trace", state: "running", elapsed: 1 }, { name: "lower", state: "waiting" }]);
  const { el, remove } = drawn(model);
  expect(el.textContent).toBe("");
  await vi.advanceTimersByTimeAsync(700);
  expect(el.textContent).toContain("<b>f</b>  cpu:2\ntrace running… 1.7 s · lower waiting");
  expect(el.querySelector("b")).toBeNull();
  await vi.advanceTimersByTimeAsync(2000);
  expect(el.textContent).toContain("trace running… 3.7 s");
  model.state = waitingCall([TRACED, { name: "lower", state: "running" }]);
  model.emit("change:state");
  await vi.advanceTimersByTimeAsync(1000);
  expect(el.textContent).toContain("trace 81.2 ms · lower running… 1.0 s");
  const error = { stage: "lower", type: "TypeError", message: "no such\nmore", interrupted: false };
  model.state = waitingCall([TRACED, { name: "lower", state: "failed" }], error);
  model.emit("change:state");
  await vi.advanceTimersByTimeAsync(200);
  expect(el.textContent).toContain("lower failed\nlower failed: TypeError: no such");
  expect(el.textContent).not.toContain("more");
  remove();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("what a kernel that does not answer was running is not said to run", async () => {
  const model = new FakeModel("throws");
  model.state = waitingCall([{ name: "trace", state: "running", elapsed: 1 }]);
  const { el, remove } = drawn(model);
  await vi.waitFor(() => expect(el.textContent).toContain("trace not finished; the kernel does not answer"));
  expect(el.textContent).not.toContain("running…");
  remove();
});

test("a state of another form draws nothing and breaks nothing", async () => {
  vi.useFakeTimers();
  for (const state of [null, 1, { calls: "f" }, { calls: [null, { stages: [1, null], error: "e", name: {} }] }]) {
    const model = new FakeModel("waits");
    model.state = state;
    const { el, remove } = drawn(model);
    await vi.advanceTimersByTimeAsync(600);
    expect(el.textContent).toContain("Loading the panel…");
    remove();
  }
  vi.useRealTimers();
});

test("a page that marimo exported says that it has no kernel, and asks for nothing", async () => {
  vi.stubGlobal("__MARIMO_STATIC__", {});
  const model = new FakeModel("waits");
  const { el, remove } = drawn(model);
  await vi.waitFor(() => expect(el.textContent).toContain("saved without its kernel"));
  expect(model.asked).toEqual([]);
  expect(el.querySelector("button")).toBeNull();
  remove();
  vi.unstubAllGlobals();
});

test("a panel whose kernel was busy for long is drawn when the late reply comes", async () => {
  vi.useFakeTimers();
  const model = new FakeModel("waits");
  const { el, remove } = drawn(model);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(el.textContent).toContain("did not answer");
  vi.useRealTimers();
  model.heal();
  model.emit("msg:custom", { kind: "reply", id: model.asked[0]?.id, result: {} }, [gz("js"), gz(".x {}")]);
  await vi.waitFor(() => expect(el.textContent).toBe("drawn"));
  expect(model.asked.length).toBe(3);
  remove();
});
