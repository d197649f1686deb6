/** The targets of a call side by side, as its first target's summary holds them. Read from untrusted JSON, so checked. */

import { capped, count, fields, list, text } from "../../wire/check";
import { difference } from "../../wire/figures";
import { type Grid, type NumberField, textColumn } from "../../wire/tables";

export interface Cell {
  /** What rows are sorted by; null where it is not known. */
  value: number | null;
  text: string;
  reason: string | null;
  note: string | null;
  mark: "best" | "worst" | "";
  /** Whether it is an amount, of which another is so many times as much. */
  isAmount: boolean;
}

export interface Column {
  name: string;
  title: string;
  hint: string;
  /** "" for counts and words. */
  unit: string;
}

export interface Row {
  /** The place among the call's targets, however the rows are sorted. */
  at: number;
  target: string;
  device: string;
  cells: Map<string, Cell>;
  error: string | null;
}

export interface Compare {
  /** The row of this target. */
  row: number;
  /** The row that the others are looked at from: that of the earlier version, where there is one. */
  before: number;
  /** What the comparison comes to; "" where nothing can be said. */
  headline: string;
  columns: Column[];
  rows: Row[];
}

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;
const MAX_TEXT = 500;

const orNull = (raw: unknown): string | null => capped(raw, MAX_TEXT) || null;

/** Whether a program fits, from the worst to the best; older reports have true and false. */
const FITS = ["no", "only with a setting", "yes"];

function readCell(raw: unknown): Cell {
  const cell = fields(raw);
  const place = FITS.indexOf(text(cell.value));
  const value = typeof cell.value === "boolean" ? 2 * Number(cell.value) : place < 0 ? cell.value : place;
  return {
    value: typeof value === "number" && Number.isFinite(value) ? value : null,
    text: text(cell.text) || "unknown",
    reason: orNull(cell.reason),
    note: orNull(cell.note),
    mark: cell.mark === "best" || cell.mark === "worst" ? cell.mark : "",
    isAmount: typeof cell.value === "number",
  };
}

export function readCompare(raw: unknown): Compare | null {
  if (raw === null || typeof raw !== "object") return null;
  const table = fields(raw);
  const columns = list(table.columns, MAX_COLUMNS).map(fields).map((c) => ({
    name: text(c.name),
    title: text(c.title) || text(c.name),
    hint: text(c.hint),
    unit: text(c.unit),
  }));
  const rows = list(table.rows, MAX_ROWS).map(fields).map((row, at) => ({
    at,
    target: text(row.target),
    device: text(row.device),
    cells: new Map(columns.map(({ name }) => [name, readCell(fields(row.cells)[name])])),
    error: orNull(row.error),
  }));
  const before = Math.min(count(table.before), Math.max(rows.length - 1, 0));
  return { row: count(table.row), before, headline: text(table.headline), columns, rows };
}

/** By how much and how many times it is more than another, of known amounts that differ: "+8 B", "2×". */
function differencesOf(cell: Cell | undefined, other: Cell | undefined, unit: string): string[] {
  if (!cell?.isAmount || !other?.isAmount || cell.value === null || other.value === null || cell.text === other.text) return [];
  const more = difference(cell.value - other.value, unit);
  if (!cell.value || !other.value) return [more];
  return [more, `${(cell.value / other.value).toLocaleString("en-US", { maximumSignificantDigits: 3 })}×`];
}

/** What the pointer or the keyboard is on, in one sentence. */
function about(row: Row, column: Column, cell: Cell, times: string): string {
  const more = [times, cell.reason ?? cell.note].filter(Boolean).map((one) => `, ${one}`);
  return `${column.title} on ${row.target}: ${cell.text}${more.join("")}${cell.mark ? ` (${cell.mark})` : ""}`;
}

/** A column of figures; below each stands by how much and how many times it is more than that of the row `before`. */
function columnOf(column: Column, rows: Row[], before: number): NumberField {
  const { name, title, hint, unit } = column;
  const cell = (row: number) => rows[row]?.cells.get(name);
  const differences = (row: number) => differencesOf(cell(row), cell(before), unit);
  const compared = (row: number) => {
    const found = differences(row);
    return found.length ? `${found.join(", ")} that of ${rows[before]?.target}, ${cell(before)?.text}` : "";
  };
  return {
    kind: "number",
    name,
    title,
    hint,
    unit: "",
    isBestSmall: true,
    values: rows.map((row) => row.cells.get(name)?.value ?? Number.NaN),
    written: (row) => cell(row)?.text ?? "unknown",
    below: (row) => differences(row).join("\n"),
    why: (row) => cell(row)?.reason ?? "not known",
    mark: (row) => cell(row)?.mark ?? "",
    about: (row) => about(rows[row] as Row, column, cell(row) as Cell, compared(row)),
  };
}

/** The targets as the grid draws them. */
export function gridOf({ before, columns, rows }: Compare): Grid {
  const targets = textColumn("target", rows.map(({ target }) => target), {
    hint: "the target it was compiled for",
    below: (row) => rows[row]?.device ?? "",
  });
  return { length: rows.length, fields: [targets, ...columns.map((column) => columnOf(column, rows, before))] };
}
