/** From an instruction in the cost view to its place in the documents. */

import type { Session } from "../../model/session";

/** The row of the source pane that a row of a document came from, or -1. */
export function sourceRowOf(session: Session, row: number, doc = "hlo"): number {
  const [rows, frames] = [session.loaded(doc)?.rows, session.frames()];
  const anchor = rows && frames ? (frames.anchor[rows.frame[row] ?? -1] ?? -1) : -1;
  if (!frames || anchor < 0) return -1;
  return session.sourceRow(frames.at.file[anchor] ?? -1, frames.at.line[anchor] ?? -1);
}

function place(session: Session, row: number, ofLine: boolean, doc: string): [doc: string, row: number] {
  const source = ofLine ? sourceRowOf(session, row, doc) : -1;
  return source >= 0 ? ["python", source] : [doc, row];
}

/** Selects the row, or the source line that it came from, in all views. */
export function pick(session: Session, row: number, ofLine = false, doc = "hlo"): void {
  if (row < 0) return session.say("This instruction is not in the text shown.");
  session.select(...place(session, row, ofLine, doc), "cost");
}

/** The same, in the code. */
export function open(session: Session, row: number, ofLine = false, doc = "hlo"): void {
  if (row >= 0) session.show(...place(session, row, ofLine, doc));
}

export function hover(session: Session, row: number, doc = "hlo"): void {
  session.store.set({ hover: row < 0 ? null : { doc, row, from: "cost" } });
}
