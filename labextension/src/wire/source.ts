import { fields, list } from "./check";
import { Refusal, readRefusal } from "./errors";
import { type PanelState, readState } from "./state";

export interface Reply {
  result: Record<string, unknown>;
  buffers: ArrayBuffer[];
}

export type Params = Record<string, string | number | boolean>;

/** Where a panel gets its data. Views and documents know only this. */
export interface Source {
  state(): PanelState;
  onState(listener: () => void): () => void;
  /** Rejects with a one-line Error that can be shown as it is. */
  request(method: string, params: Params): Promise<Reply>;
}

/** The part of an anywidget model that is used. */
export interface Model {
  get(name: string): unknown;
  on(event: string, listener: (...args: never[]) => void): void;
  off(event: string, listener?: ((...args: never[]) => void) | null): void;
  send(content: unknown): void;
}

const TIMEOUT_MS = 20_000;
const SILENT = "The kernel did not answer. It may be busy, restarted or gone.";

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
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

export class KernelSource implements Source {
  private pending = new Map<number, Pending>();
  /** Several pages may share one model, and each sees all replies: start where no other is likely to be. */
  private nextId = Math.floor(Math.random() * 2 ** 40);

  constructor(
    private model: Model,
    private timeout = TIMEOUT_MS,
  ) {
    model.on("msg:custom", (message: unknown, buffers: unknown) => this.receive(message, buffers));
  }

  state(): PanelState {
    return readState(this.model.get("state"));
  }

  onState(listener: () => void): () => void {
    this.model.on("change:state", listener);
    return () => this.model.off("change:state", listener);
  }

  request(method: string, params: Params): Promise<Reply> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.settle(id)?.reject(new Refusal(SILENT, "silent")), this.timeout);
      this.pending.set(id, { resolve, reject, timer });
      try {
        this.model.send({ kind: "request", id, method, params });
      } catch {
        this.settle(id)?.reject(new Refusal(SILENT, "silent"));
      }
    });
  }

  private settle(id: unknown): Pending | undefined {
    if (typeof id !== "number") return undefined;
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  private receive(message: unknown, buffers: unknown): void {
    const reply = message as { kind?: unknown; id?: unknown; result?: unknown; error?: unknown } | null;
    if (reply?.kind !== "reply") return;
    const waiting = this.settle(reply.id);
    if (!waiting) return;
    const refusal = readRefusal(reply.error);
    if (refusal) waiting.reject(refusal);
    else waiting.resolve({ result: fields(reply.result), buffers: list(buffers).map(copied) });
  }
}
