/** Requests sent as messages, and the replies that answer them by their number. */

import { fields, list } from "./check";
import { Refusal, readRefusal } from "./errors";
import type { Params, Reply } from "./source";

const TIMEOUT_MS = 20_000;
/**
 * After which an unanswered request is sent once more. Until JupyterLab has a subshell for a panel's comm it sends on
 * the main shell, where a request waits for the cells that run; the second is on the subshell.
 */
const AGAIN_MS = 3_000;
const SILENT = "The kernel did not answer. It may be busy, restarted or gone.";

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  timers: ReturnType<typeof setTimeout>[];
}

/** A buffer may be a view anywhere into a larger one: copied, so that typed arrays are aligned. */
function copied(buffer: unknown): ArrayBuffer {
  if (buffer instanceof ArrayBuffer) return buffer;
  if (ArrayBuffer.isView(buffer)) {
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    return bytes.slice().buffer;
  }
  return new ArrayBuffer(0);
}

export class Requests {
  private pending = new Map<number, Pending>();
  /** Several pages may share one model, and each sees all replies: start where no other is likely to be. */
  private page = Math.floor(Math.random() * 2 ** 40);
  private nextId = this.page;

  constructor(
    private send: (message: { kind: "request"; id: number; page: number; method: string; params: Params }) => void,
    private timeout = TIMEOUT_MS,
  ) {}

  request(method: string, params: Params): Promise<Reply> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const send = () => {
        try {
          this.send({ kind: "request", id, page: this.page, method, params });
        } catch {
          this.refuse(id);
        }
      };
      const timers = [setTimeout(send, AGAIN_MS), setTimeout(() => this.refuse(id), this.timeout)];
      this.pending.set(id, { resolve, reject, timers });
      send();
    });
  }

  /** Settles the request that a message answers, if it answers one. */
  receive(message: unknown, buffers: unknown): void {
    const { kind, id, result, error } = fields(message);
    if (kind !== "reply") return;
    const waiting = this.settle(id);
    if (!waiting) return;
    const refusal = readRefusal(error);
    if (refusal) waiting.reject(refusal);
    else waiting.resolve({ result: fields(result), buffers: list(buffers).map(copied) });
  }

  /** Rejects all that wait: nobody is left to answer. */
  end(): void {
    for (const id of [...this.pending.keys()]) this.refuse(id);
  }

  private refuse(id: number): void {
    this.settle(id)?.reject(new Refusal(SILENT, "silent"));
  }

  private settle(id: unknown): Pending | undefined {
    if (typeof id !== "number") return undefined;
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    waiting?.timers.forEach(clearTimeout);
    return waiting;
  }
}
