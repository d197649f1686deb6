/** What is chosen in a session: shared by all views of its documents, wherever they are mounted. */

import type { DocumentInfo, Summary } from "../wire/state";
import type { SourceFile } from "./frames";
import type { Heat } from "./heat";
import type { Lane, Warned } from "./lane";
import type { Panel } from "./panel";
import type { Token } from "./highlight";
import { type Pick, type Place, SOURCE } from "./place";
import type { Show } from "./rewrite";
import { Store } from "./observable";

export type Marker = (kind: string, row: number, tokens: Token[]) => Token[];

export interface Selected {
  call: number;
  /** The open tab, "" until the user chooses; where the call has none of that name, its code is shown. */
  view: string;
  hover: Pick | null;
  selected: Pick | null;
  /** A line that is in no document of the session, which is marked where it is open. */
  outside: { source: SourceFile; line: number } | null;
  /** The pane that keys and toolbar buttons act on; it is open. */
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
  /** By call, what a tab makes of the tokens of a row; it is heard once it knows more of them than the code does. */
  marked: ReadonlyMap<number, Marker>;
  /** The library whose lines count as the user's own do: "" for none, "*" for all; and the pane of its source. */
  library: string;
  librarySource: DocumentInfo | null;
  /** The kernel whose machine code is shown, and the two stages of it; none before one was chosen. */
  kernel: string | null;
  stages: string[];
  /** A short message for the user, announced to screen readers. */
  message: string;
}

const NOTHING: Selected = {
  call: 0,
  view: "",
  hover: null,
  selected: null,
  outside: null,
  follow: null,
  active: SOURCE,
  show: { types: true, layouts: false, metadata: false },
  measure: "",
  heat: null,
  lane: null,
  warned: null,
  marked: new Map(),
  library: "",
  librarySource: null,
  kernel: null,
  stages: [],
  message: "",
};

/** Of another call: what is of a call's rows is gone. */
const OF_ROWS = { heat: null, lane: null, warned: null, librarySource: null, hover: null, selected: null, follow: null };

export class Selection extends Store<Selected> {
  private back: Place[] = [];

  constructor(private panel: Panel) {
    super(NOTHING);
  }

  get call(): number {
    return Math.min(this.get().call, Math.max(0, this.panel.state.calls.length - 1));
  }

  /** Of the shown call. */
  get summary(): Summary | null {
    return this.panel.state.calls[this.call] ?? null;
  }

  pickCall(call: number): void {
    this.back = [];
    const has = this.panel.state.calls[call]?.views ?? [];
    const { view } = this.get();
    this.set({ call, active: SOURCE, ...OF_ROWS, view: !view || has.includes(view) ? view : "code" });
  }

  /** The cell ran again in the same panel: the documents are others; the tab and the panes stay, for the user chose them. */
  forget(): void {
    this.back = [];
    this.set({ ...OF_ROWS, marked: new Map(), kernel: null, stages: [] });
  }

  say(message: string): void {
    this.set({ message });
  }

  select(doc: string, row: number, from = doc): void {
    this.set({ selected: { doc, row, from } });
  }

  /** From another view: opens the code, with the row's pane, and selects the row. */
  show(doc: string, row: number): void {
    this.set({ view: "code", active: doc, hover: null, selected: { doc, row, from: "" } });
  }

  /** Selects a row of the same document and remembers the way back. */
  go(doc: string, from: number, to: number): void {
    this.back = [...this.back.slice(-99), { doc, row: from }];
    this.select(doc, to, "");
  }

  goBack(): void {
    const place = this.back.pop();
    if (place) this.select(place.doc, place.row, "");
    else this.say("Nothing to go back to.");
  }

  get canGoBack(): boolean {
    return this.back.length > 0;
  }

  /** Opens the passes and follows the instruction on a row of the optimised module through them. */
  follow(doc: string, row: number): void {
    if (doc !== "hlo" || !this.summary?.views.includes("passes")) return this.say("Select a line of the optimised HLO to follow it through the passes.");
    this.set({ view: "passes", follow: { doc, row, from: "" } });
  }
}
