import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { FollowedNotebook, KernelState, Notebooks } from "../../src/hosts/lab/side/followed";
import { Inspections } from "../../src/hosts/lab/side/inspections";
import type { KernelLink } from "../../src/hosts/lab/tokens";
import type { Reply } from "../../src/wire/source";
import { inspection } from "./inspectionReplies";

/** A kernel whose answers the test gives. */
class FakeLink implements KernelLink {
  asked: string[] = [];
  list: unknown[] = [inspection("1")];
  held: Promise<void> = Promise.resolve();
  freed = true;
  isDisposed = false;
  private listeners = new Set<() => void>();

  async request(method: string): Promise<Reply> {
    this.asked.push(method);
    await this.held;
    const result = method === "free" ? { freed: this.freed, variables: this.freed ? [] : ["ins"] } : { inspections: this.list };
    return { result, buffers: [] };
  }

  onChange(listener: () => void) {
    this.listeners.add(listener);
    return { isDisposed: false, dispose: () => void this.listeners.delete(listener) };
  }

  notice(): void {
    for (const listener of [...this.listeners]) listener();
  }

  dispose(): void {}
}

class FakeNotebook implements FollowedNotebook {
  name = "x.ipynb";
  state: KernelState = "idle";
  loaded: FakeLink | null = new FakeLink();
  asked: boolean[] = [];
  private kernel_: ((isNew: boolean) => void)[] = [];
  private run_: (() => void)[] = [];

  constructor(readonly id = "n1") {}

  kernel = () => this.state;

  answers: Promise<void> = Promise.resolve();

  async link(load: boolean) {
    this.asked.push(load);
    if (load) this.loaded ??= new FakeLink();
    const { loaded } = this;
    await this.answers;
    return loaded;
  }

  onKernel(listener: (isNew: boolean) => void) {
    this.kernel_.push(listener);
    return () => {
      this.kernel_ = [];
    };
  }

  onRun(listener: () => void) {
    this.run_.push(listener);
    return () => {
      this.run_ = [];
    };
  }

  private renamed: (name: string) => void = () => {};

  onRename(listener: (name: string) => void) {
    this.renamed = listener;
    return () => {};
  }

  rename(name: string): void {
    this.renamed(name);
  }

  to(state: KernelState): void {
    this.state = state;
    for (const listener of this.kernel_) listener(false);
  }

  ran(): void {
    for (const listener of this.run_) listener();
  }
}

class FakeNotebooks implements Notebooks {
  private listener = () => {};
  constructor(public shown: FakeNotebook | null) {}
  current = () => this.shown;
  onCurrent(listener: () => void) {
    this.listener = listener;
    return () => {};
  }
  show(notebook: FakeNotebook | null): void {
    this.shown = notebook;
    this.listener();
  }
}

const settled = () => vi.advanceTimersByTimeAsync(1);
const ids = (inspections: Inspections) => inspections.shown.rows?.map(({ id }) => id);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("asks nothing while it is hidden, and once for all that changed meanwhile", async () => {
  const notebook = new FakeNotebook();
  const inspections = new Inspections(new FakeNotebooks(notebook));
  await settled();
  expect(notebook.asked).toEqual([]);
  inspections.setVisible(true);
  await settled();
  expect(ids(inspections)).toEqual(["1"]);
  inspections.setVisible(false);
  for (let n = 0; n < 5; n++) notebook.loaded!.notice();
  await settled();
  expect(notebook.loaded!.asked).toEqual(["inspections"]);
  notebook.loaded!.list = [inspection("2"), inspection("1")];
  inspections.setVisible(true);
  await settled();
  expect(ids(inspections)).toEqual(["2", "1"]);
  expect(notebook.loaded!.asked).toEqual(["inspections", "inspections"]);
});

it("says that no notebook is open, that there is no kernel, and that JAXStage is not loaded", async () => {
  const notebooks = new FakeNotebooks(null);
  const inspections = new Inspections(notebooks);
  inspections.setVisible(true);
  expect(inspections.shown.place).toBe("no notebook");
  const notebook = new FakeNotebook();
  notebook.loaded = null;
  notebook.state = "none";
  notebooks.show(notebook);
  expect(inspections.shown.place).toBe("no kernel");
  notebook.to("idle");
  await settled();
  expect(inspections.shown.place).toBe("not loaded");
  await inspections.load();
  await settled();
  expect(inspections.shown.place).toBe("connected");
  expect(notebook.asked).toEqual([false, true]);
});

it("JAXStage that was unloaded and loaded anew is asked over a new link", async () => {
  const notebook = new FakeNotebook();
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  notebook.loaded!.isDisposed = true;
  const anew = (notebook.loaded = new FakeLink());
  anew.list = [inspection("7")];
  notebook.ran();
  await settled();
  expect(ids(inspections)).toEqual(["7"]);
  await inspections.free(inspections.shown.rows![0]!);
  expect(anew.asked).toContain("free");
});

it("has the notebook's new name", async () => {
  const notebook = new FakeNotebook();
  const inspections = new Inspections(new FakeNotebooks(notebook));
  notebook.rename("y.ipynb");
  expect(inspections.shown.notebook).toBe("y.ipynb");
});

it("sees that a cell has loaded JAXStage", async () => {
  const notebook = new FakeNotebook();
  notebook.loaded = null;
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  expect(inspections.shown.place).toBe("not loaded");
  notebook.loaded = new FakeLink();
  notebook.ran();
  await settled();
  expect(ids(inspections)).toEqual(["1"]);
});

it("takes the kernel's work on its own question for no news", async () => {
  const notebook = new FakeNotebook();
  notebook.loaded = null;
  const link = notebook.link.bind(notebook);
  notebook.link = async (load) => {
    notebook.to("busy");
    const found = await link(load);
    notebook.to("idle");
    return found;
  };
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  expect(inspections.shown.place).toBe("not loaded");
  expect(notebook.asked).toHaveLength(1);
});

it("sees that a cell has loaded JAXStage while it was being looked for", async () => {
  const notebook = new FakeNotebook();
  notebook.loaded = null;
  let answer = () => {};
  notebook.answers = new Promise((resolve) => (answer = resolve));
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  notebook.loaded = new FakeLink();
  notebook.ran();
  answer();
  await settled();
  expect(ids(inspections)).toEqual(["1"]);
});

it("asks once more when the list changes while it is being asked for", async () => {
  const notebook = new FakeNotebook();
  let answer = () => {};
  notebook.loaded!.held = new Promise((resolve) => (answer = resolve));
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  for (let n = 0; n < 9; n++) notebook.loaded!.notice();
  expect(notebook.loaded!.asked).toHaveLength(1);
  answer();
  await settled();
  expect(notebook.loaded!.asked).toHaveLength(2);
});

it("says that a busy kernel does not answer, and no more once it does", async () => {
  const notebook = new FakeNotebook();
  let answer = () => {};
  notebook.loaded!.held = new Promise((resolve) => (answer = resolve));
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await vi.advanceTimersByTimeAsync(2000);
  expect(inspections.shown.isWaiting).toBe(true);
  answer();
  await settled();
  expect(inspections.shown.isWaiting).toBe(false);
});

it("drops what a kernel had when it restarts, and an answer that comes late", async () => {
  const notebook = new FakeNotebook();
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  let answer = () => {};
  notebook.loaded!.held = new Promise((resolve) => (answer = resolve));
  notebook.loaded!.notice();
  notebook.loaded = null;
  notebook.to("restarting");
  expect(inspections.shown).toMatchObject({ rows: null, isRestarted: true });
  answer();
  notebook.to("idle");
  await settled();
  expect(inspections.shown).toMatchObject({ place: "not loaded", rows: null, isRestarted: true });
});

it("shows the inspections of the notebook that is shown", async () => {
  const [first, second] = [new FakeNotebook("n1"), new FakeNotebook("n2")];
  second.loaded!.list = [];
  const notebooks = new FakeNotebooks(first);
  const inspections = new Inspections(notebooks);
  inspections.setVisible(true);
  await settled();
  notebooks.show(second);
  await settled();
  expect(ids(inspections)).toEqual([]);
  first.loaded!.notice();
  await settled();
  expect(first.loaded!.asked).toHaveLength(1);
});

it("shows a freed inspection as freed, and says what still holds one", async () => {
  const notebook = new FakeNotebook();
  const inspections = new Inspections(new FakeNotebooks(notebook));
  inspections.setVisible(true);
  await settled();
  const [one] = inspections.shown.rows!;
  notebook.loaded!.list = [];
  await inspections.attempt(() => inspections.free(one!));
  await settled();
  expect(inspections.shown.rows).toMatchObject([{ id: "1", isFreed: true }]);
  notebook.loaded!.freed = false;
  notebook.loaded!.list = [inspection("2")];
  await inspections.attempt(() => inspections.free(one!));
  expect(inspections.shown.problem).toContain("del ins");
});
