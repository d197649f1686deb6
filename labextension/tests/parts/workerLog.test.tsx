// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import { readLog } from "../../src/parts/workerLog";
import fixture from "../fixtures/loss.json";
import { $, FakeKernel, click, soon } from "../kernel";

const error = { stage: "compile", type: "WorkerDied", message: "the compile worker for tpu was ended", line: null };

let kernel: FakeKernel;
let unmount: () => void;

function open(more: Record<string, unknown>): void {
  kernel.now = readState({ calls: [{ ...fixture[0]?.summary, documents: [], error: { ...error, log: true }, ...more }] });
  unmount = mount(new Session(kernel), document.body);
}

beforeEach(() => {
  kernel = new FakeKernel();
});

afterEach(() => {
  unmount();
  vi.restoreAllMocks();
});

it("a worker's log is asked for when it is opened, anew each time, and is text", async () => {
  let said = ["F0000 <b>bad</b>", "more"];
  kernel.answers.log = () => ({ result: { lines: said, left_out: 7 }, buffers: [] });
  open({ worker: true });
  const button = () => $(".jxs-failure .jxs-log button");
  expect(button()?.textContent).toBe("Worker's log");
  expect(kernel.asked).not.toContain("log");
  click(button());
  await soon(() => expect($(".jxs-log pre")?.textContent).toBe("… 7 earlier lines\nF0000 <b>bad</b>\nmore"));
  expect($(".jxs-log pre b")).toBeNull();
  click(button());
  await soon(() => expect($(".jxs-log pre")).toBeNull());
  said = [];
  kernel.answers.log = () => ({ result: { lines: said, left_out: 0 }, buffers: [] });
  click(button());
  await soon(() => expect($(".jxs-log pre")?.textContent).toBe("The worker printed nothing."));
});

it("what the kernel itself compiled, or what failed before, has none", () => {
  open({ worker: false, error: { ...error, log: false } });
  expect($(".jxs-log")).toBeNull();
  unmount();
  open({ worker: true, error: { ...error, stage: "trace", log: false } });
  expect($(".jxs-log")).toBeNull();
});

it("reads a log out of anything", () => {
  expect(readLog({ result: { lines: [1, "a", null], left_out: "x" }, buffers: [] })).toBe("a");
  expect(readLog({ result: {}, buffers: [] })).toBe("");
});
