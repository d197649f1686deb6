/** What is known about one row, in words. */

import { GRADIENT, INFERRED, OP, type Rows } from "../wire/columns";
import type { Doc } from "./document";
import type { Frames } from "./frames";
import { type Lit, STRONG, classOf, sourceLine } from "./links";
import { type Pick, type Place, isSource } from "./place";
import type { Documents } from "./documents";
import type { Selection } from "./selection";

export interface StackEntry {
  frame: number;
  label: string;
  line: number;
  fn: string;
  file: number;
  /** The library that it is in, "" for the user's own code. */
  library: string;
}

export interface Detail {
  /** "In [5]:3", or the line's number in its own document where no source is known. */
  place: string;
  hue: number | null;
  fn: string;
  code: string;
  gradient: boolean;
  /** Line (from 1) that the link was taken from, 0 when it is not known; null for a direct link. */
  inferredFrom: number | null;
  scope: string;
  known: boolean;
  /** Whether the line is that of a library. */
  library: boolean;
  /** The row of a source pane to go to. */
  source: Place | null;
  counts: { title: string; n: number }[];
  stack: StackEntry[];
}

export function operations(lit: Lit, rows: Rows): number {
  let n = 0;
  for (let row = 0; row < rows.frame.length; row++) {
    if ((rows.flags[row] ?? 0) & OP && classOf(lit, rows, row) === STRONG) n++;
  }
  return n;
}

function counts(documents: Documents, selection: Selection, lit: Lit | null): Detail["counts"] {
  if (!lit) return [];
  return (selection.summary?.documents ?? []).flatMap((info) => {
    const rows = isSource(info.kind) ? null : documents.loaded(info.kind)?.rows;
    return rows ? [{ title: info.title, n: operations(lit, rows) }] : [];
  });
}

function stackOf(frames: Frames, frame: number): StackEntry[] {
  return frames.stack(frame).map((f) => ({
    frame: f,
    label: frames.fileOf(f)?.label ?? "?",
    line: frames.at.line[f] ?? 0,
    fn: frames.functionOf(f),
    file: frames.at.file[f] ?? -1,
    library: frames.fileOf(f)?.library ?? "",
  }));
}

const NOTHING = { fn: "", gradient: false, inferredFrom: null, scope: "", library: false, source: null, stack: [], hue: null };

function ofSource(documents: Documents, selection: Selection, doc: Doc, rows: Rows, pick: Pick): Detail | null {
  const line = sourceLine(rows, pick.row);
  if (!line) return null;
  const label = documents.frames()?.files[line.file]?.label ?? "";
  const code = doc.text?.line(pick.row)?.trim() ?? "";
  return {
    ...NOTHING,
    place: `${label}:${line.line}`,
    hue: documents.hue(doc, pick.row),
    code,
    known: true,
    source: pick,
    counts: counts(documents, selection, documents.lit(pick)),
  };
}

export function detailOf(documents: Documents, selection: Selection, pick: Pick | null): Detail | null {
  const doc = pick && documents.loaded(pick.doc);
  const frames = documents.frames();
  if (!pick || !doc?.rows || !frames) return null;
  if (isSource(doc.kind)) return ofSource(documents, selection, doc, doc.rows, pick);
  const { rows } = doc;
  const frame = rows.frame[pick.row] ?? -1;
  const scope = rows.scopes[rows.scope[pick.row] ?? -1] ?? "";
  const known = frame >= 0 && frame < frames.length;
  if (!known) return { ...NOTHING, place: `${doc.info.title}:${pick.row + 1}`, code: "", scope, known, counts: [] };
  return { ...ofFrame(documents, frames, frame), ...ofFlags(rows, pick.row), scope, counts: counts(documents, selection, documents.lit(pick)) };
}

function ofFrame(documents: Documents, frames: Frames, frame: number): Omit<Detail, "scope" | "counts" | "gradient" | "inferredFrom"> {
  const anchor = frames.anchor[frame] ?? frame;
  const [file, line] = [frames.at.file[anchor] ?? -1, frames.at.line[anchor] ?? 0];
  const source = documents.sourcePlace(file, line);
  return {
    place: `${frames.fileOf(anchor)?.label ?? "?"}:${line}`,
    hue: frames.linked(frame) ? documents.colourOf(file, line) : null,
    fn: frames.functionOf(anchor),
    code: source ? (documents.loaded(source.doc)?.text?.line(source.row)?.trim() ?? "") : "",
    library: frames.fileOf(anchor)?.user === false,
    known: true,
    source,
    stack: stackOf(frames, frame),
  };
}

function ofFlags(rows: Rows, row: number): Pick_<Detail, "gradient" | "inferredFrom"> {
  const flags = rows.flags[row] ?? 0;
  const origin = rows.origin?.[row] ?? -1;
  return { gradient: (flags & GRADIENT) > 0, inferredFrom: flags & INFERRED ? origin + 1 : null };
}

type Pick_<T, K extends keyof T> = { [P in K]: T[P] };
