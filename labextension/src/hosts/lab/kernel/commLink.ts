/** The link to one kernel: requests and notices over a comm. */

import { DisposableDelegate, type IDisposable } from "@lumino/disposable";
import type { JSONObject } from "@lumino/coreutils";
import type { Kernel } from "@jupyterlab/services";
import { fields } from "../../../wire/check";
import { Requests } from "../../../wire/requests";
import type { Params, Reply } from "../../../wire/source";
import type { KernelLink } from "../tokens";

/** What the kernel side calls itself. */
export const TARGET = "jaxstage";

export class CommLink implements KernelLink {
  private listeners = new Set<() => void>();
  private requests: Requests;
  isDisposed = false;

  constructor(
    private comm: Kernel.IComm,
    timeout?: number,
  ) {
    this.requests = new Requests((message) => this.send(message), timeout);
    comm.onMsg = ({ content, buffers }) => this.receive(content.data, buffers);
    comm.onClose = () => this.dispose();
    void comm.open().done.catch(() => this.dispose());
  }

  request(method: string, params: Params): Promise<Reply> {
    return this.requests.request(method, params);
  }

  onChange(listener: () => void): IDisposable {
    this.listeners.add(listener);
    return new DisposableDelegate(() => this.listeners.delete(listener));
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.requests.end();
    this.listeners.clear();
    this.comm.dispose();
  }

  /** A comm drops what is sent after its kernel has gone; here such a request fails at once. */
  private send(message: unknown): void {
    if (this.isDisposed || this.comm.isDisposed) throw new Error("The kernel is gone.");
    void this.comm.send(message as JSONObject).done.catch(() => undefined);
  }

  private receive(data: unknown, buffers: unknown): void {
    if (fields(data).kind !== "notice") return this.requests.receive(data, buffers);
    if (fields(data).what === "inspections") for (const listener of [...this.listeners]) listener();
  }
}
