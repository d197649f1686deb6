/** A table of any length as columns: sorted, filtered, written out. It knows no view. */

import { scaled } from "../wire/figures";

export interface TextField {
  kind: "text";
  name: string;
  title: string;
  hint: string;
  /** Each row's text, as a number into `strings`. */
  codes: Int32Array;
  strings: string[];
  /** In place of an empty text. */
  missing: string;
  /** Pixels it needs; it gets a share of what is left. */
  least?: number;
}

export interface NumberField {
  kind: "number";
  name: string;
  title: string;
  hint: string;
  /** "" for a plain count. */
  unit: string;
  /** NaN where not known. */
  values: ArrayLike<number>;
  /** Why a value is not known. */
  why?: (row: number) => string;
  /** Whether a value leaves something out that is not known. */
  isLeast?: (row: number) => boolean;
  /** Pixels. */
  least?: number;
}

export type Field = TextField | NumberField;

export interface Grid {
  length: number;
  fields: Field[];
}

export interface Order {
  field: string;
  down: boolean;
}

/** A number as a cell shows it; "unknown" where there is none. */
export function written(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return "unknown";
  if (unit) return scaled(value, unit);
  return value.toLocaleString("en-US", Number.isInteger(value) ? undefined : { maximumSignificantDigits: 3 });
}

export function cellText(field: Field, row: number): string {
  if (field.kind === "text") return (field.strings[field.codes[row] ?? -1] ?? "") || field.missing;
  const value = field.values[row] ?? Number.NaN;
  return `${Number.isFinite(value) && field.isLeast?.(row) ? "≥ " : ""}${written(value, field.unit)}`;
}

/** The rows whose texts have all of the words. */
export function matching({ length, fields }: Grid, query: string): Uint32Array {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = fields.filter((field) => field.kind === "text");
  const kept = new Uint8Array(length).fill(1);
  for (const word of words) {
    const having = texts.map(({ strings, missing }) => strings.map((text) => (text || missing).toLowerCase().includes(word)));
    for (let row = 0; row < length; row++) {
      if (kept[row] && !texts.some(({ codes }, i) => having[i]?.[codes[row] ?? -1])) kept[row] = 0;
    }
  }
  const found = new Uint32Array(kept.reduce((sum, one) => sum + one, 0));
  let n = 0;
  for (let row = 0; row < length; row++) if (kept[row]) found[n++] = row;
  return found;
}

/** For each of a field's texts its place among them in the order of the alphabet. */
function ranks(strings: string[]): Float64Array {
  const order = strings.map((_, i) => i).sort((a, b) => ((strings[a] as string) < (strings[b] as string) ? -1 : 1));
  const rank = new Float64Array(strings.length);
  order.forEach((i, place) => (rank[i] = place));
  return rank;
}

/** The rows in the order of one field; what is not known comes last, whichever way. Rows that are equal stay as they were. */
export function sorted(grid: Grid, rows: Uint32Array, order: Order | null): Uint32Array {
  const field = order && grid.fields.find(({ name }) => name === order.field);
  if (!field) return rows;
  const keys = new Float64Array(grid.length);
  const rank = field.kind === "text" ? ranks(field.strings) : null;
  const sign = order.down ? -1 : 1;
  for (let row = 0; row < grid.length; row++) {
    const value = field.kind === "text" ? (rank?.[field.codes[row] ?? -1] ?? Number.NaN) : (field.values[row] ?? Number.NaN);
    keys[row] = Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value;
  }
  return rows.slice().sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b);
}

/** The largest value of each number field, for bars. */
export function largest(field: NumberField): number {
  let most = 0;
  for (let row = 0; row < field.values.length; row++) {
    const value = field.values[row] as number;
    if (value > most && Number.isFinite(value)) most = value;
  }
  return most;
}
