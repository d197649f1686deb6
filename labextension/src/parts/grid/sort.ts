/** A table of any length, sorted and filtered. */

import { written } from "../../wire/figures";
import type { Field, Grid, NumberField } from "../../wire/tables";

export interface Order {
  field: string;
  down: boolean;
}

export function cellText(field: Field, row: number): string {
  if (field.kind === "text") {
    const text = field.strings[field.codes[row] ?? -1];
    return (field.isEmptyKnown ? text : text || undefined) ?? field.missing;
  }
  if (field.written) return field.written(row);
  const value = field.values[row] ?? Number.NaN;
  if (!Number.isFinite(value) && field.missing) return field.missing;
  return `${Number.isFinite(value) && field.isLeast?.(row) ? "≥ " : ""}${written(value, field.unit)}`;
}

/** The rows whose texts have all of the words. */
export function matching({ length, fields }: Grid, query: string): Uint32Array {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = fields.filter((field) => field.kind === "text");
  const kept = new Uint8Array(length).fill(1);
  for (const word of words) {
    const having = texts.map(({ strings, missing, words: more }) =>
      strings.map((text, code) => `${text || missing} ${more?.[code] ?? ""}`.toLowerCase().includes(word)),
    );
    for (let row = 0; row < length; row++) {
      if (kept[row] && !texts.some(({ codes }, i) => having[i]?.[codes[row] ?? -1])) kept[row] = 0;
    }
  }
  const matched = new Uint32Array(kept.reduce((sum, one) => sum + one, 0));
  let n = 0;
  for (let row = 0; row < length; row++) if (kept[row]) matched[n++] = row;
  return matched;
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
