/** The passes of a compile as the kernel tells them: read from untrusted JSON, so checked and capped. */

import { count, entries, fields, list, number, sentences, text, whole } from "../../wire/check";
import { difference, written } from "../../wire/figures";
import { Columns } from "../../wire/columns";
import type { Reply } from "../../wire/source";
import type { DocumentInfo } from "../../wire/state";

export interface Pass {
  index: number;
  pipeline: string;
  name: string;
  changed: boolean;
  seconds: number | null;
  instructions: number;
  fusions: number;
  bytes: number;
  /** The number of the module after it; that before it is one less where it changed something. */
  version: number;
}

export interface PassList {
  title: string;
  complete: boolean;
  notes: string[];
  passes: Pass[];
}

export const SAME = 0;
export const CHANGED = 1;
export const GONE = 2;
export const MOVED = 3;

/** Per row: its state and its match on the other side; by display line: the rows side by side, -1 a blank. */
export interface Side {
  info: DocumentInfo;
  rows: Int32Array;
  state: Uint8Array;
  match: Int32Array;
}

export interface Diff {
  before: Side;
  after: Side;
  counts: [what: string, count: number][];
}

export interface Step {
  pass: number;
  what: string;
  before: number[];
  after: number[];
  line: string;
}

export interface History {
  line: string;
  first: number;
  steps: Step[];
}

const MOST = 20_000;
const MOST_ROWS = 2_000_000;

const items = (raw: unknown): unknown[] => list(raw, MOST);
const amount = (raw: unknown): number => number(raw) ?? 0;

function readPass(raw: unknown, index: number): Pass {
  const pass = fields(raw);
  return {
    index,
    pipeline: text(pass.pipeline),
    name: text(pass.name),
    changed: pass.changed === true,
    seconds: typeof pass.seconds === "number" && pass.seconds >= 0 ? pass.seconds : null,
    instructions: amount(pass["added instructions"]),
    fusions: amount(pass["added fusions"]),
    bytes: amount(pass["added bytes"]),
    version: count(pass.version),
  };
}

export function readPasses(reply: Reply): PassList {
  const { title, complete, notes, passes } = reply.result;
  return {
    title: text(title),
    complete: complete === true,
    notes: sentences(notes),
    passes: items(passes).map(readPass),
  };
}

function readInfo(raw: unknown): DocumentInfo {
  const info = fields(raw);
  const kind = text(info.kind);
  if (!/^pass:\d+$/.test(kind)) throw new Error("the kernel answered with another document");
  return { kind, title: text(info.title), lines: Math.min(count(info.lines), MOST_ROWS), bytes: count(info.bytes) };
}

/** Rows that are not there become blanks. */
function bounded(column: Int32Array, length: number): Int32Array {
  return column.map((row) => (row >= 0 && row < length ? row : -1));
}

export async function readDiff(reply: Reply): Promise<Diff> {
  const columns = await Columns.of(reply);
  const [before, after] = [readInfo(reply.result.before), readInfo(reply.result.after)];
  const shown = Math.min(columns.lengthOf("left"), columns.lengthOf("right"), 2 * MOST_ROWS);
  const side = (info: DocumentInfo, other: DocumentInfo, rows: string, name: string): Side => {
    return {
      info,
      rows: bounded(columns.ints(rows, shown), info.lines),
      state: columns.sized(`state_${name}`, new Uint8Array(info.lines)),
      match: bounded(columns.ints(`match_${name}`, info.lines), other.lines),
    };
  };
  const counts = entries(reply.result.counts, 10);
  return {
    before: side(before, after, "left", "before"),
    after: side(after, before, "right", "after"),
    counts: counts.map(([what, n]): [string, number] => [text(what), count(n)]).filter(([, n]) => n > 0),
  };
}

export function readHistory(reply: Reply): History {
  const steps = items(reply.result.steps).map((raw) => {
    const step = fields(raw);
    const rows = (found: unknown) => items(found).map(count);
    return {
      pass: count(step.pass),
      what: text(step.what),
      before: rows(step.before),
      after: rows(step.after),
      line: text(step.line),
    };
  });
  return { line: text(reply.result.line), first: whole(reply.result.first), steps };
}

/** Whether every letter of each word of the query comes in the name, in its order. */
export function fuzzy(query: string, name: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = name.toLowerCase();
  return words.every((word) => {
    let at = -1;
    return [...word].every((letter) => (at = lower.indexOf(letter, at + 1)) >= 0);
  });
}

/** Passes that stand next to each other in one pipeline, together. */
export function groups(passes: Pass[]): { pipeline: string; passes: Pass[] }[] {
  const grouped: { pipeline: string; passes: Pass[] }[] = [];
  for (const pass of passes) {
    const last = grouped.at(-1);
    if (last && last.pipeline === pass.pipeline) last.passes.push(pass);
    else grouped.push({ pipeline: pass.pipeline, passes: [pass] });
  }
  return grouped;
}

export const deltaBytes = (bytes: number): string => difference(bytes, "B");
export const duration = (seconds: number | null): string => written(seconds, "s");
