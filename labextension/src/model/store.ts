import type { Heat } from "./heat";
import type { Lane, Warned } from "./lane";
import type { Show } from "./rewrite";

/** A row of a document; `from` is the pane in which it was picked ("" for anywhere else). */
export interface Pick {
  doc: string;
  row: number;
  from: string;
}

/** What all views share. Only ever replaced in part, by `Store.set`. */
export interface Shared {
  call: number;
  /** The open tab, "" until the user chooses; where the call has none of that name, its code is shown. */
  view: string;
  /** Open panes, left to right; null until the user chooses: then by width and by what there is. */
  panes: string[] | null;
  /** Share of the width of each open pane, by kind. */
  widths: Record<string, number>;
  hover: Pick | null;
  selected: Pick | null;
  /** The pane that keys and toolbar buttons act on. */
  active: string;
  /** The instruction that the passes view follows. */
  follow: Pick | null;
  show: Show;
  /** What stands beside the lines, "" for nothing; and it once it has come: a measure of cost, or marks. */
  measure: string;
  heat: Heat | null;
  lane: Lane | null;
  /** What is warned of at the lines; null where it was not asked for. */
  warned: Warned | null;
  stack: boolean;
  help: boolean;
  large: boolean;
  height: number | null;
  /** The kernel whose machine code is shown, and the two stages of it; none before one was chosen. */
  kernel: string | null;
  stages: string[];
  /** A short message for the user, announced to screen readers. */
  message: string;
}

export const START: Shared = {
  call: 0,
  view: "",
  panes: null,
  widths: {},
  hover: null,
  selected: null,
  follow: null,
  active: "python",
  show: { types: true, layouts: false, metadata: false },
  measure: "",
  heat: null,
  lane: null,
  warned: null,
  stack: false,
  help: false,
  large: false,
  height: null,
  kernel: null,
  stages: [],
  message: "",
};

type Listener = (now: Shared, before: Shared) => void;

export class Store {
  private listeners = new Set<Listener>();

  constructor(private now: Shared = START) {}

  get(): Shared {
    return this.now;
  }

  set(patch: Partial<Shared>): void {
    const before = this.now;
    const same = (Object.keys(patch) as (keyof Shared)[]).every((key) => before[key] === patch[key]);
    if (same) return;
    this.now = { ...before, ...patch };
    for (const listener of [...this.listeners]) listener(this.now, before);
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
