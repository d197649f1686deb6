/** Two inspections side by side, as the kernel compares them; read from untrusted JSON. */

import { capped, count, type Fields, fields, list, number, text, textOrNull, texts } from "../../../wire/check";

export interface ComparedSide {
  title: string;
  label: string;
  /** The targets that it was inspected for, and which of them is compared. */
  targets: string[];
  target: number;
}

export interface ComparedValue {
  text: string;
  isKnown: boolean;
  /** Why it is unknown. */
  reason: string | null;
  note: string | null;
}

export interface ComparedRow {
  group: string;
  title: string;
  hint: string;
  before: ComparedValue;
  after: ComparedValue;
  isSame: boolean;
  /** "" where they cannot be compared. */
  difference: string;
  ratio: string;
}

export interface ComparedInspections {
  before: ComparedSide;
  after: ComparedSide;
  rows: ComparedRow[];
  /** Documents that both have, by kind and title. */
  documents: { kind: string; title: string }[];
}

export interface DifferenceLine {
  what: "same" | "renamed" | "changed" | "moved" | "removed" | "added" | "skipped";
  before: number | null;
  after: number | null;
  text: string;
}

export interface TextDifference {
  counts: [what: string, count: number][];
  lines: DifferenceLine[];
  /** Lines of the difference that were left out. */
  leftOut: number;
}

const MOST_ROWS = 500;
const MOST_LINES = 5000;
const LONGEST = 20_000;
const KINDS: readonly string[] = ["same", "renamed", "changed", "moved", "removed", "added", "skipped"];

const readSide = (raw: Fields): ComparedSide => ({
  title: text(raw.title),
  label: text(raw.label),
  targets: texts(raw.targets, MOST_ROWS),
  target: count(raw.target),
});

const readValue = (raw: Fields): ComparedValue => ({
  text: capped(raw.text, LONGEST) || "unknown",
  isKnown: raw.known === true,
  reason: textOrNull(raw.reason),
  note: textOrNull(raw.note),
});

const readRow = (raw: Fields): ComparedRow => ({
  group: text(raw.group),
  title: text(raw.title),
  hint: text(raw.hint),
  before: readValue(fields(raw.before)),
  after: readValue(fields(raw.after)),
  isSame: raw.same === true,
  difference: text(raw.difference),
  ratio: text(raw.ratio),
});

export function readComparison(result: Fields): ComparedInspections {
  return {
    before: readSide(fields(result.before)),
    after: readSide(fields(result.after)),
    rows: list(result.rows, MOST_ROWS).map(fields).map(readRow),
    documents: list(result.documents).map(fields).map((one) => ({ kind: text(one.kind), title: text(one.title) })),
  };
}

function readLine(raw: unknown): DifferenceLine {
  const [what, before, after, line] = list(raw, 4);
  return {
    what: KINDS.includes(what as string) ? (what as DifferenceLine["what"]) : "same",
    before: number(before),
    after: number(after),
    text: capped(line, LONGEST),
  };
}

export function readDifference(result: Fields): TextDifference {
  const counts = Object.entries(fields(result.counts)).slice(0, KINDS.length);
  return {
    counts: counts.map(([what, n]): [string, number] => [what, count(n)]).filter(([, n]) => n > 0),
    lines: list(result.lines, MOST_LINES).map(readLine),
    leftOut: count(result.left_out),
  };
}
