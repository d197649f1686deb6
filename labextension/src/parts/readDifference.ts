/** The lines in which what JAX made of two compiles differs. */

import { count, entries, fields, list, number, text } from "../wire/check";
import { counted } from "../wire/figures";
import type { Reply } from "../wire/source";

export interface Line {
  /** "same", "renamed", "changed", "moved", "removed", "added", or "skipped" for a stretch that is alike. */
  what: string;
  /** "-" where it is of the first, "+" of the second, else " ". */
  mark: "-" | "+" | " ";
  text: string;
}

export interface DocumentDifference {
  kind: string;
  title: string;
  /** "2 changed, 1 added", or that there is none. */
  summary: string;
  lines: Line[];
  leftOut: number;
}

export interface CompiledDifference {
  documents: DocumentDifference[];
  unknown: { title: string; reason: string }[];
}

const MOST_LINES = 4000;

function readLine(raw: unknown): Line {
  const [what, before, after, line] = list(raw, 4);
  const [isBefore, isAfter] = [number(before) !== null, number(after) !== null];
  return { what: text(what), mark: isBefore === isAfter ? " " : isBefore ? "-" : "+", text: text(line) };
}

function readDocument(raw: unknown): DocumentDifference {
  const one = fields(raw);
  const counts = entries(one.counts, 10).map(([name, many]) => [count(many), name] as const);
  const said = counts.filter(([many]) => many).map(([many, name]) => `${counted(many)} ${name}`);
  return {
    kind: text(one.kind),
    title: text(one.title),
    summary: said.join(", ") || "no difference",
    lines: list(one.lines, MOST_LINES).map(readLine),
    leftOut: count(one.left_out),
  };
}

export function readDifference({ result }: Reply): CompiledDifference {
  return {
    documents: list(result.documents, 10).map(readDocument),
    unknown: list(result.unknown, 10).map(fields).map(({ title, reason }) => ({ title: text(title), reason: text(reason) })),
  };
}
