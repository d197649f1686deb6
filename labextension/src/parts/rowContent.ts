/** What a row of a document shows: its text, and all that the session knows of it. */

import type { Doc } from "../model/document";
import { isSource } from "../model/place";
import { nameOf, tokenise, tokenisePython } from "../model/highlight";
import { hiddenStretches } from "../model/rewrite";
import { type RowContent, marksIn } from "./rowView";
import type { Documents } from "../model/documents";
import type { Marker, Selection } from "../model/selection";

export function contentOf(documents: Documents, selection: Selection, doc: Doc, row: number): RowContent {
  const line = doc.text?.line(row);
  const { show, marked } = selection.get();
  const { query, matchCase, open } = doc.search;
  const number = doc.rows?.number?.[row];
  return {
    row,
    rows: doc.folds.length,
    line,
    label: !isSource(doc.kind) ? String(row + 1) : number === undefined || number < 0 ? "" : String(number),
    tokens: line === undefined ? [] : tokens(doc, row, line, marked.get(doc.call)),
    hidden: line === undefined ? [] : hiddenStretches(doc.kind, line, show),
    marks: open && line !== undefined ? marksIn(line, query, matchCase) : [],
    fold: doc.folds.canFold(row) ? (doc.folds.isFolded(row) ? "closed" : "open") : "none",
    foldedRows: doc.folds.end(row) - row,
    comment: show.metadata ? comment(documents, doc, row) : "",
    hue: documents.hue(doc, row),
    heat: heat(documents, selection, doc, row),
    lane: lane(selection, doc, row),
    warning: warning(selection, doc, row),
  };
}

/** Documents that can have a measure keep room for it on all their rows. */
function heat(documents: Documents, selection: Selection, doc: Doc, row: number): RowContent["heat"] {
  const { heat } = selection.get();
  if (!heat || (doc.kind !== "hlo" && !isSource(doc.kind))) return null;
  return heat.of(documents, doc, row) ?? { share: 0, title: "" };
}

function lane(selection: Selection, doc: Doc, row: number): RowContent["lane"] {
  const { lane: beside } = selection.get();
  const width = beside?.width(doc.kind) ?? 0;
  return beside && width ? { mark: beside.at(doc.kind, row), width } : null;
}

function warning(selection: Selection, doc: Doc, row: number): RowContent["warning"] {
  const { warned } = selection.get();
  return warned?.has(doc.kind) ? warned.at(doc.kind, row) : undefined;
}

function tokens(doc: Doc, row: number, line: string, mark?: Marker) {
  if (!isSource(doc.kind)) {
    const found = tokenise(doc.kind, line);
    return mark ? mark(doc.kind, row, found) : found;
  }
  return isTitle(doc, row) ? [] : tokenisePython(line, doc.quotesAt(row));
}

/** Whether a row of the source pane is the head of a stretch of it. */
export function isTitle({ rows }: Doc, row: number): boolean {
  return rows?.number != null && (rows.number[row] ?? -1) < 0;
}

function comment(documents: Documents, doc: Doc, row: number): string {
  const { rows, kind } = doc;
  const frames = documents.frames(doc.call);
  const frame = rows?.frame[row] ?? -1;
  if (!rows || !frames || isSource(kind)) return "";
  const anchor = frames.anchor[frame] ?? -1;
  const place = frame >= 0 ? `${frames.fileOf(anchor)?.label ?? "?"}:${frames.at.line[anchor]}` : "";
  const parts = [place, rows.scopes[rows.scope[row] ?? -1] ?? ""].filter(Boolean);
  return parts.length ? `  // ${parts.join(" · ")}` : "";
}

/** The first name on a row that can be gone to: a called computation before a value. */
export function nameOn(doc: Doc, row: number): { name: string; global: boolean } | null {
  const line = doc.text?.line(row) ?? "";
  const names = tokenise(doc.kind, line).filter((t) => !t.def && (t.cls === "ref" || t.cls === "name"));
  const token = names.find((t) => t.cls === "ref") ?? names[0];
  return token ? { name: nameOf(line, token), global: token.cls === "ref" } : null;
}
