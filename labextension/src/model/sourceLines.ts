/** What is pointed at in a session as lines of the user's files, and the way back from a line to the session. */

import { OP } from "../wire/columns";
import type { Doc } from "./document";
import type { Frames } from "./frames";
import { type Lit, STRONG, WEAK, classOf, rangeOf } from "./links";
import { type Pick, type Place, SOURCE, isSource } from "./place";
import type { Documents } from "./documents";
import type { Selection } from "./selection";

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

/** Lines of a file, from 1, both ends included. */
export interface LitLines {
  file: number;
  first: number;
  last: number;
  hue: number | null;
  by: "hover" | "selected";
  /** False where the functions that a line calls have made what is lit. */
  isDirect: boolean;
}

const MOST_LINES = 1000;

/** The lines that the session's hover and selection stand for; the hovered ones last. Callers are not among them. */
export function litLines(documents: Documents, selection: Selection): LitLines[] {
  const { hover, selected } = selection.get();
  const hovered = hover === selected ? [] : linesOf(documents, hover, "hover");
  return [...linesOf(documents, selected, "selected"), ...hovered];
}

function linesOf(documents: Documents, pick: Pick | null, by: LitLines["by"]): LitLines[] {
  const lit = documents.lit(pick);
  const frames = documents.frames();
  if (!lit || !frames) return [];
  const lines = calledLines(frames, lit).map((range) => litLine(documents, range.file, range.line, range.endLine, by, false));
  if (lit.source) lines.push(litLine(documents, lit.source.file, lit.source.line, lit.source.endLine, by, true));
  return lines;
}

function litLine(documents: Documents, file: number, first: number, last: number, by: LitLines["by"], isDirect: boolean): LitLines {
  return { file, first, last, hue: documents.colourOf(file, first), by, isDirect };
}

/** Where the weakly lit frames are, each place once. */
function calledLines(frames: Frames, lit: Lit): { file: number; line: number; endLine: number }[] {
  const places = new Map<number, { file: number; line: number; endLine: number }>();
  for (let frame = 0; frame < frames.length && places.size < MOST_LINES; frame++) {
    const place = frames.place[frame] as number;
    if (lit.frames[frame] !== WEAK || places.has(place) || !frames.linked(frame)) continue;
    const range = rangeOf(frames, frames.anchor[frame] as number);
    if (range.file !== lit.source?.file || range.line !== lit.source.line) places.set(place, range);
  }
  return [...places.values()];
}

/** The source document with its columns, once they are there; null where the call has none, or it failed to load. */
export function sourceDocument(documents: Documents): Promise<Doc | null> {
  const doc = documents.doc(SOURCE);
  return doc ? whenReady(doc) : Promise.resolve(null);
}

function whenReady(doc: Doc): Promise<Doc | null> {
  if (doc.rows) return Promise.resolve(doc);
  return new Promise((resolve) => {
    const end = doc.onChange(() => {
      if (!doc.rows && !doc.problem) return;
      end();
      resolve(doc.rows ? doc : null);
    });
  });
}

/** Selects what a line of a file became; false where the session shows nothing of it. */
export function selectLine(documents: Documents, selection: Selection, file: number, line: number): boolean {
  const found = rowOfSource(documents, file, line) ?? rowOfResult(documents, selection, file, line);
  if (!found) return false;
  const { selected } = selection.get();
  if (selected?.doc !== found.doc || selected.row !== found.row) selection.select(found.doc, found.row, "");
  return true;
}

function rowOfSource(documents: Documents, file: number, line: number): Place | null {
  const row = documents.sourceRow(file, line);
  return row < 0 ? null : { doc: SOURCE, row };
}

/** A row of a loaded document that the line made, of the pane in use where it has one; operations before other rows. */
function rowOfResult(documents: Documents, selection: Selection, file: number, line: number): Place | null {
  const frames = documents.frames();
  if (!frames) return null;
  const lit = litHere(frames, file, line);
  const { active } = selection.get();
  const kinds = [active, ...documents.listed.map(({ kind }) => kind)].filter((kind) => !isSource(kind));
  for (const kind of kinds) {
    const row = firstLit(documents.loaded(kind), lit);
    if (row >= 0) return { doc: kind, row };
  }
  return null;
}

function litHere(frames: Frames, file: number, line: number): Lit {
  const covers = (frame: number) => frames.covers(frames.anchor[frame] as number, file, line);
  return { frames: Uint8Array.from({ length: frames.length }, (_, frame) => (covers(frame) ? STRONG : 0)), source: null };
}

function firstLit(doc: Doc | null, lit: Lit): number {
  const rows = doc?.rows;
  if (!rows) return -1;
  let first = -1;
  for (let row = 0; row < rows.frame.length; row++) {
    if (classOf(lit, rows, row) !== STRONG) continue;
    if ((rows.flags[row] ?? 0) & OP) return row;
    if (first < 0) first = row;
  }
  return first;
}
