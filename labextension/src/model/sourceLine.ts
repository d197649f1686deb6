/** From "In [5]:3", as tables name a source line, to the row of the source pane, and back. */

import type { Pick } from "./place";
import type { Documents } from "./documents";

/** The row of the source pane, or -1. */
export function rowOfLine(documents: Documents, label: string): number {
  const first = label.split(", ")[0] ?? "";
  const colon = first.lastIndexOf(":");
  const line = Number(first.slice(colon + 1));
  const frames = documents.frames();
  if (colon < 0 || !Number.isInteger(line) || !frames) return -1;
  const file = frames.files.findIndex((one) => one.label === first.slice(0, colon) || one.name === first.slice(0, colon));
  return file < 0 ? -1 : documents.sourceRow(file, line);
}

/** The source line that a row belongs to, as tables name it; "" where it is not known. */
export function lineOf(documents: Documents, pick: Pick | null): string {
  const rows = pick && documents.loaded(pick.doc)?.rows;
  const frames = documents.frames();
  if (!rows || !frames) return "";
  if (rows.file && rows.number) return named(frames.files[rows.file[pick.row] ?? -1]?.label, rows.number[pick.row]);
  const anchor = frames.anchor[rows.frame[pick.row] ?? -1] ?? -1;
  return anchor < 0 ? "" : named(frames.files[frames.at.file[anchor] ?? -1]?.label, frames.at.line[anchor]);
}

const named = (label: string | undefined, line: number | undefined): string => (label && line && line > 0 ? `${label}:${line}` : "");
