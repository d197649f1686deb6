/** From an instruction in the cost view to its place in the documents. */

import type { Documents } from "../../model/documents";
import type { Selection } from "../../model/selection";

/** The row of the source pane that a row of a document came from, or -1. */
export function sourceRowOf(documents: Documents, row: number, doc = "hlo"): number {
  const [rows, frames] = [documents.loaded(doc)?.rows, documents.frames()];
  const anchor = rows && frames ? (frames.anchor[rows.frame[row] ?? -1] ?? -1) : -1;
  if (!frames || anchor < 0) return -1;
  return documents.sourceRow(frames.at.file[anchor] ?? -1, frames.at.line[anchor] ?? -1);
}

function place(documents: Documents, row: number, ofLine: boolean, doc: string): [doc: string, row: number] {
  const source = ofLine ? sourceRowOf(documents, row, doc) : -1;
  return source >= 0 ? ["python", source] : [doc, row];
}

/** Selects the row, or the source line that it came from, in all views. */
export function pick(documents: Documents, selection: Selection, row: number, ofLine = false, doc = "hlo"): void {
  if (row < 0) return selection.say("This instruction is not in the text shown.");
  selection.select(...place(documents, row, ofLine, doc), "cost");
}

/** The same, in the code. */
export function open(documents: Documents, selection: Selection, row: number, ofLine = false, doc = "hlo"): void {
  if (row >= 0) selection.show(...place(documents, row, ofLine, doc));
}

export function hover(selection: Selection, row: number, doc = "hlo"): void {
  selection.set({ hover: row < 0 ? null : { doc, row, from: "cost" } });
}
