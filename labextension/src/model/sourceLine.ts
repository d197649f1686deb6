/** From "In [5]:3", as tables name a source line, to the row of the source pane, and back. */

import type { Session } from "./session";
import type { Pick } from "./selection";

/** The row of the source pane, or -1. */
export function rowOfLine(session: Session, label: string): number {
  const first = label.split(", ")[0] ?? "";
  const colon = first.lastIndexOf(":");
  const line = Number(first.slice(colon + 1));
  const frames = session.frames();
  if (colon < 0 || !Number.isInteger(line) || !frames) return -1;
  const file = frames.files.findIndex((one) => one.label === first.slice(0, colon) || one.name === first.slice(0, colon));
  return file < 0 ? -1 : session.sourceRow(file, line);
}

/** The source line that a row belongs to, as tables name it; "" where it is not known. */
export function lineOf(session: Session, pick: Pick | null): string {
  const rows = pick && session.loaded(pick.doc)?.rows;
  const frames = session.frames();
  if (!rows || !frames) return "";
  if (rows.file && rows.number) return named(frames.files[rows.file[pick.row] ?? -1]?.label, rows.number[pick.row]);
  const anchor = frames.anchor[rows.frame[pick.row] ?? -1] ?? -1;
  return anchor < 0 ? "" : named(frames.files[frames.at.file[anchor] ?? -1]?.label, frames.at.line[anchor]);
}

const named = (label: string | undefined, line: number | undefined): string => (label && line && line > 0 ? `${label}:${line}` : "");
