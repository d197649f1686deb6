/** A kernel as JupyterLab's services show it, with as much of it as the extension uses. */

import { Signal } from "@lumino/signaling";
import type { Kernel } from "@jupyterlab/services";

type Answer = (method: string, params: unknown) => { data: unknown; buffers?: unknown[] } | null;

class FakeComm {
  isDisposed = false;
  onMsg: (message: unknown) => void = () => undefined;
  onClose: (message: unknown) => void = () => undefined;

  constructor(private kernel: FakeKernel) {}

  open() {
    return { done: Promise.resolve() };
  }

  send(data: { id: number; method: string; params: unknown }) {
    this.kernel.requests.push(data.method);
    const answer = this.kernel.answer(data.method, data.params);
    if (answer) queueMicrotask(() => this.deliver({ kind: "reply", id: data.id, ...(answer.data as object) }, answer.buffers));
    return { done: Promise.resolve() };
  }

  deliver(data: unknown, buffers: unknown[] = []) {
    this.onMsg({ content: { data }, buffers });
  }

  dispose() {
    this.isDisposed = true;
  }
}

export class FakeKernel {
  info: Promise<unknown>;
  statusChanged = new Signal<this, string>(this);
  disposed = new Signal<this, void>(this);
  isDisposed = false;
  handleComms = true;
  isLoaded = false;
  isInstalled = true;
  comms: FakeComm[] = [];
  executed: { code: string; silent: boolean; store_history: boolean }[] = [];
  requests: string[] = [];
  answer: Answer = () => ({ data: { result: { fine: true } } });

  constructor(
    readonly id = "k1",
    language = "python",
  ) {
    this.info = Promise.resolve({ language_info: { name: language } });
  }

  get connection(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }

  createComm(target: string) {
    if (target !== "jaxstage") throw new Error(`unknown target ${target}`);
    this.comms.push(new FakeComm(this));
    return this.comms.at(-1);
  }

  requestExecute(content: { code: string; silent: boolean; store_history: boolean; user_expressions?: object }) {
    this.executed.push(content);
    return { done: Promise.resolve({ content: this.run(content.code) }) };
  }

  private run(code: string) {
    if (code.startsWith("%load_ext") && !this.isInstalled)
      return { status: "error", ename: "ModuleNotFoundError", evalue: "No module named 'jaxstage_ext'" };
    this.isLoaded ||= code.startsWith("%load_ext");
    return { status: "ok", user_expressions: { loaded: { data: { "text/plain": this.isLoaded ? "True" : "False" } } } };
  }

  restart() {
    this.isLoaded = false;
    for (const comm of this.comms) comm.dispose();
    this.statusChanged.emit("restarting");
  }
}
