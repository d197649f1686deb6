import { Requests } from "./requests";
import { type PanelState, readState } from "./state";

export interface Reply {
  result: Record<string, unknown>;
  buffers: ArrayBuffer[];
}

export type Params = Record<string, string | number | boolean>;

/** Where a panel gets its data. Views and documents know only this. */
export interface Source {
  /** Answers from what was saved; no kernel does anything for it. */
  readonly isSaved?: boolean;
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

export class KernelSource implements Source {
  private requests: Requests;

  constructor(
    private model: Model,
    timeout?: number,
  ) {
    this.requests = new Requests((message) => model.send(message), timeout);
    model.on("msg:custom", (message: unknown, buffers: unknown) => this.requests.receive(message, buffers));
  }

  state(): PanelState {
    return readState(this.model.get("state"));
  }

  onState(listener: () => void): () => void {
    this.model.on("change:state", listener);
    return () => this.model.off("change:state", listener);
  }

  request(method: string, params: Params): Promise<Reply> {
    return this.requests.request(method, params);
  }
}
