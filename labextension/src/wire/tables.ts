/** Any table of the kernel's as the grid takes it; read from untrusted replies, so checked and capped. */

import { fields, list, number, text, texts } from "../tabs/cost/read";
import type { Field, Grid } from "../parts/grid";
import { gunzip } from "./gzip";
import type { Reply } from "./source";

export interface Told {
  grid: Grid;
  /** What follows the columns: whole numbers. */
  more: Int32Array[];
  result: Record<string, unknown>;
}

/** What the kernel sends for a text that is known and empty. */
const NOTHING = "–";
const MOST_ROWS = 1_000_000;
const MOST_FIELDS = 40;
const MOST_REASONS = 5000;

const unpacked = async (buffer: ArrayBuffer | undefined): Promise<Uint8Array> =>
  gunzip(buffer ?? new ArrayBuffer(0)).catch(() => new Uint8Array(0));

export const wholes = async (buffer: ArrayBuffer | undefined): Promise<Int32Array> => {
  const bytes = await unpacked(buffer);
  return new Int32Array(bytes.slice().buffer, 0, bytes.byteLength >> 2);
};

/** Pixels that a column needs, by its name. */
export type Widths = Record<string, number>;

/** A reply of `table_wire.packed`. */
export async function readTable({ result, buffers }: Reply, widths: Widths = {}): Promise<Told> {
  const length = Math.min(MOST_ROWS, Math.max(0, Math.floor(number(result.length) ?? 0)));
  const described = list(result.fields, MOST_FIELDS).map(fields);
  const strings = fields(result.strings);
  const why = new Map<string, string>();
  for (const raw of list(result.reasons, MOST_REASONS)) {
    const [row, name, reason] = list(raw, 3);
    why.set(`${number(row)} ${text(name)}`, text(reason));
  }
  const read = described.map(async (raw, i): Promise<Field> => {
    const name = text(raw.name);
    const [title, unit] = [text(raw.title) || name, text(raw.unit)];
    const head = { name, title, hint: text(raw.hint) || title, least: Object.hasOwn(widths, name) ? widths[name] : undefined };
    const bytes = await unpacked(buffers[i]);
    if (raw.dtype === "f8") {
      const values = new Float64Array(length).fill(Number.NaN);
      values.set(new Float64Array(bytes.slice().buffer, 0, bytes.byteLength >> 3).subarray(0, length));
      return { ...head, kind: "number", unit, values, why: (row) => why.get(`${row} ${name}`) ?? "not known" };
    }
    const codes = new Int32Array(length).fill(-1);
    codes.set(new Int32Array(bytes.slice().buffer, 0, bytes.byteLength >> 2).subarray(0, length));
    return { ...head, kind: "text", codes, strings: texts(strings[name]), missing: "unknown" };
  });
  const grid = { length, fields: await Promise.all(read) };
  const more = await Promise.all(buffers.slice(described.length, described.length + 4).map(wholes));
  return { grid, more, result };
}

/** The text of one cell, "" where it has none. */
export function textAt({ fields: columns }: Grid, name: string, row: number): string {
  const field = columns.find((one) => one.name === name);
  const found = field?.kind === "text" ? (field.strings[field.codes[row] ?? -1] ?? "") : "";
  return found === NOTHING ? "" : found;
}

/** Of a list that goes with the rows, one entry. */
export const besides = (raw: unknown, row: number): string => text(Array.isArray(raw) ? raw[row] : "");
