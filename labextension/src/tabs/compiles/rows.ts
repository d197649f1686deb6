/** Which compiles the list shows, and as what table. */

import { type Texts, textIn } from "../../wire/texts";
import { duration } from "../../wire/figures";
import { type Grid, type NumberField, type TextField, textColumn } from "../../wire/tables";
import { widthOfTexts } from "../../parts/grid/widths";
import { type Causes, type Compiles, EAGER, IN_SCOPE, MENDABLE, MINE, RECOMPILE, STAGES } from "./read";

export interface Choice {
  recompiles: boolean;
  mendable: boolean;
  mine: boolean;
  folded: boolean;
  scope: boolean;
}

/** A row of the list: one record, or the eager operations of one line. `first` tells its place. */
export interface Row {
  first: number;
  members: number[];
}

const MOST_NAMES = 3;
/** Why several eager operations in one row were compiled. */
const FOLDED = "operations that ran outside jax.jit";
/** What names of functions keep in a narrow list. */
const KEPT_FUNCTION_PX = 84;
/** Pixels between which a column is as wide as its longest text. */
type Limits = readonly [least: number, most: number];

/** Whether a record is listed, by what was chosen; what is not known yet is left in. */
export function isListed(compiles: Compiles, causes: Causes | null, causeRow: Int32Array, choice: Choice, row: number): boolean {
  const flags = compiles.flags[row] ?? 0;
  const of = causeRow[row] ?? -1;
  const found = causes && of >= 0 ? (causes.flags[of] ?? 0) : null;
  return (
    (!choice.scope || (flags & IN_SCOPE) > 0) &&
    (!choice.mine || (flags & MINE) > 0) &&
    (!choice.recompiles || found === null || (found & RECOMPILE) > 0) &&
    (!choice.mendable || found === null || (found & MENDABLE) > 0)
  );
}

/** The rows in the order in which they began. */
export function rowsOf(compiles: Compiles, listed: (row: number) => boolean, folded: boolean): Row[] {
  const rows: Row[] = [];
  const ofLine = new Map<string, Row>();
  for (let row = 0; row < compiles.length; row++) {
    if (!listed(row)) continue;
    if (!folded || !((compiles.flags[row] ?? 0) & EAGER)) {
      rows.push({ first: row, members: [row] });
      continue;
    }
    const key = [compiles.cell.codes[row], compiles.line.codes[row], compiles.parent[row], (compiles.flags[row] ?? 0) & MINE].join(" ");
    const open = ofLine.get(key);
    if (open) open.members.push(row);
    else {
      const made = { first: row, members: [row] };
      ofLine.set(key, made);
      rows.push(made);
    }
  }
  return rows;
}

function names(compiles: Compiles, members: number[]): string {
  const counts = new Map<string, number>();
  for (const row of members) {
    const name = textIn(compiles.function, row);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const all = [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return `${all.slice(0, MOST_NAMES).join(", ")}${all.length > MOST_NAMES ? ", …" : ""}`;
}

/** The function, with a mark where it ran during another; of eager operations their number. */
function titleOf(compiles: Compiles, { first, members }: Row): string {
  if (members.length > 1) return `${members.length.toLocaleString("en-US")} eager operations: ${names(compiles, members)}`;
  return `${(compiles.parent[first] ?? -1) > 0 ? "↳ " : ""}${textIn(compiles.function, first)}`;
}

const sumOf = (values: Float64Array, members: number[]): number => {
  const known = members.map((row) => values[row] ?? Number.NaN).filter((value) => !Number.isNaN(value));
  if (!known.length) return Number.NaN;
  const ended = known.filter((value) => value >= 0);
  return ended.length ? ended.reduce((sum, value) => sum + value, 0) : -1;
};

function timeField(name: string, title: string, hint: string, rows: Row[], values: Float64Array): NumberField {
  const sums = Float64Array.from(rows, ({ members }) => sumOf(values, members));
  return {
    kind: "number",
    name,
    title,
    hint,
    least: 64,
    unit: "s",
    values: sums.map((value) => (value < 0 ? Number.NaN : value)),
    written: (row) => {
      const value = sums[row] ?? Number.NaN;
      return Number.isNaN(value) ? "–" : value < 0 ? "unknown" : duration(value);
    },
    why: (row) => ((sums[row] ?? Number.NaN) < 0 ? "its end was not reported" : "JAX reported no such stage"),
  };
}

/** A column of the list, at the rows' first records. */
function listField(name: string, title: string, hint: string, rows: Row[], { codes, strings }: Texts, limits: Limits, missing = ""): TextField {
  return { kind: "text", name, title, hint, strings, codes: Int32Array.from(rows, ({ first }) => codes[first] ?? -1), missing, least: widthOfTexts(strings, title, limits), isFixed: true };
}

export function gridOf(compiles: Compiles, causes: Causes | null, causeRow: Int32Array, rows: Row[]): Grid {
  const caused = (name: "why" | "signature" | "caches" | "persistent", title: string, hint: string, limits: Limits, more: Partial<TextField> = {}): TextField => {
    const column = causes?.[name] ?? { codes: new Int32Array(0), strings: [] };
    const ofFolded = causes && name === "why" ? column.strings.length : -1;
    const codes = Int32Array.from(rows, ({ first, members }) => (members.length > 1 ? ofFolded : (column.codes[causeRow[first] ?? -1] ?? -1)));
    return { kind: "text", name, title, hint, strings: [...column.strings, FOLDED], codes, missing: causes ? "" : "…", least: widthOfTexts(column.strings, title, limits), isFixed: true, ...more };
  };
  const [trace, lower, compile] = STAGES.map((stage) => timeField(stage, stage, `${stage}, without what was compiled meanwhile`, rows, compiles[stage]));
  const number: NumberField = { kind: "number", name: "number", title: "#", hint: "counts from 1 in this kernel", least: 32, unit: "", values: Float64Array.from(rows, ({ first }) => compiles.number[first] ?? Number.NaN), isBestSmall: true };
  const titles = rows.map((row) => titleOf(compiles, row));
  const width = widthOfTexts(titles, "function", [64, KEPT_FUNCTION_PX]);
  const functions = textColumn("function", titles, { hint: "what was compiled; ↳ during another", least: width, isSentence: true });
  return {
    length: rows.length,
    fields: [
      number,
      listField("cell", "cell", "the cell that ran", rows, compiles.cell, [40, 110], "–"),
      functions,
      timeField("own", "time", "all stages, without what was compiled meanwhile", rows, compiles.own),
      compile as NumberField,
      caused("why", "why", "why JAX did not use what it had", [200, 460], { isAnswer: true, isSentence: true, missing: causes ? "not compared when this was saved" : "…" }),
      caused("signature", "signature", "the types it was called with", [70, 240], { isCode: true }),
      trace as NumberField,
      lower as NumberField,
      listField("line", "line", "the line of yours that caused it", rows, compiles.line, [60, 170], "–"),
      caused("caches", "caches", "JAX's caches that spared it a stage", [60, 220], { isCode: true }),
      listField("outcome", "outcome", "how it ended", rows, compiles.outcome, [60, 110]),
      caused("persistent", "persistent cache", "what JAX's persistent compilation cache did", [110, 320], { isCode: true }),
    ],
  };
}
