/**
 * What lights up with what.
 *
 * A pick (a row of one document) gives every frame a class; a row's class is that of its frame. So a hover costs one
 * pass over the frames, however long the documents are.
 */

import type { Rows } from "../wire/columns";
import { nthColour } from "./colours";
import type { Frames } from "./frames";
import type { SourceLine, SourceRange } from "./place";

export const NONE = 0;
export const WEAK = 1;
export const STRONG = 2;

export interface Lit {
  /** NONE, WEAK or STRONG for each frame. */
  frames: Uint8Array;
  /** What is lit in the source itself. */
  source: SourceRange | null;
}

/** What a map of source lines has a line by. */
export const lineKey = ({ file, line }: SourceLine): string => `${file},${line}`;

/** The source line that a row of a source pane shows; null on titles and in other documents. */
export function sourceLine(rows: Rows, row: number): SourceLine | null {
  const file = rows.file?.[row] ?? -1;
  const line = rows.number?.[row] ?? -1;
  return file >= 0 && line >= 0 ? { file, line } : null;
}

export function litByRow(frames: Frames, rows: Rows, row: number): Lit | null {
  const line = sourceLine(rows, row);
  if (line) return litByLine(frames, line);
  const frame = rows.frame[row] ?? -1;
  return frame >= 0 && frame < frames.length ? litByFrame(frames, frame) : null;
}

function litByFrame(frames: Frames, frame: number): Lit {
  const span = frames.span[frame];
  const place = frames.place[frame];
  const classes = new Uint8Array(frames.length);
  for (let f = 0; f < classes.length; f++) {
    if (frames.span[f] === span) classes[f] = STRONG;
    else if (frames.place[f] === place) classes[f] = WEAK;
  }
  return { frames: classes, source: rangeOf(frames, frames.anchor[frame] ?? frame) };
}

/** Strong: the line's own expressions. Weak: what the functions that it calls made. */
export function litByLine(frames: Frames, at: SourceLine): Lit {
  const { file, line } = at;
  const under = new Uint8Array(frames.length);
  const classes = new Uint8Array(frames.length);
  for (let f = 0; f < classes.length; f++) {
    if (frames.covers(frames.anchor[f] ?? f, file, line)) classes[f] = STRONG;
    else if (isUnder(frames, under, f, at)) classes[f] = WEAK;
  }
  return { frames: classes, source: { file, line, endLine: line, column: 0, endColumn: 0 } };
}

const NO = 1;
const YES = 2;

/** Whether the line is in the frame's stack; `known` remembers the answers, so that a pass over all frames is linear. */
function isUnder(frames: Frames, known: Uint8Array, frame: number, { file, line }: SourceLine): boolean {
  const path: number[] = [];
  let answer = NO;
  for (let f = frame; f >= 0 && f < frames.length; f = frames.at.parent[f] ?? -1) {
    if (known[f]) {
      answer = known[f] as number;
      break;
    }
    known[f] = NO;
    path.push(f);
    if (frames.covers(f, file, line)) {
      answer = YES;
      break;
    }
  }
  for (const f of path) known[f] = answer;
  return answer === YES;
}

export function lineOfFrame({ at: { file, line } }: Frames, frame: number): SourceLine {
  return { file: file[frame] ?? -1, line: line[frame] ?? 0 };
}

export function rangeOf(frames: Frames, frame: number): SourceRange {
  const { column, end_column } = frames.at;
  return {
    ...lineOfFrame(frames, frame),
    endLine: frames.endLine(frame),
    column: column[frame] ?? 0,
    endColumn: end_column[frame] ?? 0,
  };
}

export function classOf(lit: Lit | null, rows: Rows, row: number): number {
  if (!lit) return NONE;
  const line = sourceLine(rows, row);
  if (line) return inRange(lit.source, line) ? STRONG : NONE;
  const frame = rows.frame[row] ?? -1;
  return frame < 0 ? NONE : (lit.frames[frame] ?? NONE);
}

export function inRange(range: SourceRange | null, { file, line }: SourceLine): boolean {
  return range !== null && range.file === file && range.line <= line && line <= range.endLine;
}

/** The lit rows: those of the strongest class that occurs. */
export function litRows(lit: Lit | null, rows: Rows): number[] {
  const strong: number[] = [];
  const weak: number[] = [];
  for (let row = 0; row < rows.frame.length; row++) {
    const cls = classOf(lit, rows, row);
    if (cls === STRONG) strong.push(row);
    else if (cls === WEAK) weak.push(row);
  }
  return strong.length ? strong : weak;
}

/** For each "file,line" that made something its colour; lines of one expression have that of its first. */
export function colouredLines(frames: Frames): Map<string, number> {
  const owners = new Map<string, number>();
  const places = [...new Set(frames.anchor)].filter((frame) => frames.linked(frame)).map((frame) => rangeOf(frames, frame));
  places.sort((a, b) => a.file - b.file || a.line - b.line);
  for (const place of places) {
    const key = lineKey(place);
    if (!owners.has(key)) owners.set(key, nthColour(owners.size));
  }
  const coloured = new Map(owners);
  for (const range of places) spread(coloured, range, owners.get(lineKey(range)) ?? 0);
  return coloured;
}

const MAX_SPREAD = 200;

function spread(coloured: Map<string, number>, range: SourceRange, colour: number): void {
  const last = Math.min(range.endLine, range.line + MAX_SPREAD);
  for (let line = range.line; line <= last; line++) {
    const key = lineKey({ file: range.file, line });
    if (!coloured.has(key)) coloured.set(key, colour);
  }
}

/** The colour of a row, as `nthColour` writes it. */
export function hueOfRow(frames: Frames, coloured: Map<string, number>, rows: Rows, row: number): number | null {
  const own = sourceLine(rows, row);
  if (own) return coloured.get(lineKey(own)) ?? null;
  const frame = rows.frame[row] ?? -1;
  if (frame < 0 || !frames.linked(frame)) return null;
  const anchor = frames.anchor[frame] ?? frame;
  return coloured.get(lineKey(lineOfFrame(frames, anchor))) ?? null;
}
