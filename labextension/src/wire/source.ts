import type { PanelState } from "./state";

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
