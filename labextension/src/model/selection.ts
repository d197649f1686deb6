/** What is chosen in a session: shared by all views of its documents, wherever they are mounted. */

import type { Heat } from "./heat";
import type { Lane, Warned } from "./lane";
import type { Show } from "./rewrite";
import type { DocumentInfo } from "../wire/state";

/** A row of a document; `from` is the pane in which it was picked ("" for anywhere else). */
export interface Pick {
  doc: string;
  row: number;
  from: string;
}

export interface Selection {
  call: number;
  /** The open tab, "" until the user chooses; where the call has none of that name, its code is shown. */
  view: string;
  hover: Pick | null;
  selected: Pick | null;
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
  /** The library whose lines count as the user's own do: "" for none, "*" for all; and the pane of its source. */
  library: string;
  librarySource: DocumentInfo | null;
  /** The kernel whose machine code is shown, and the two stages of it; none before one was chosen. */
  kernel: string | null;
  stages: string[];
  /** A short message for the user, announced to screen readers. */
  message: string;
}

export const NOTHING_SELECTED: Selection = {
  call: 0,
  view: "",
  hover: null,
  selected: null,
  follow: null,
  active: "python",
  show: { types: true, layouts: false, metadata: false },
  measure: "",
  heat: null,
  lane: null,
  warned: null,
  library: "",
  librarySource: null,
  kernel: null,
  stages: [],
  message: "",
};
