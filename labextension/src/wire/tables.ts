/** Tables: columns of texts and numbers, whatever reply they came in; and the form in which the kernel sends most of them. */

import { fields, list, number, text, texts } from "./check";
import { gunzip } from "./gzip";
import type { Reply } from "./source";

interface Head {
  name: string;
  title: string;
  hint: string;
  /** Pixels it needs; without, as many as its longest text. */
  least?: number;
}

export interface TextField extends Head {
  kind: "text";
  /** Each row's text, as a number into `strings`. */
  codes: Int32Array;
  strings: string[];
  /** In place of a text that is not known; of an empty one too, where it is not itself known to be empty. */
  missing: string;
  isEmptyKnown?: boolean;
  /** Keeps the width that it needs: what is left of the table's goes to others. */
  isFixed?: boolean;
  /** Why a text is not known; "" where no reason is given. */
  why?: (row: number) => string;
  /** A second, smaller line of the cell. */
  below?: (row: number) => string;
  /** More words of each text that a filter finds. */
  words?: string[];
  /** Figures that the kernel has written: set as numbers are, in the order they come in. */
  isFigure?: boolean;
  /** Sentences, which may take several lines. */
  wraps?: boolean;
  /** Code, which is told by its beginning. */
  isCode?: boolean;
  /** A sentence, which is told by its beginning and keeps its width in a narrow table. */
  isSentence?: boolean;
}

export interface NumberField extends Head {
  kind: "number";
  /** "" for a plain count. */
  unit: string;
  /** NaN where not known. */
  values: ArrayLike<number>;
  /** In place of what is not known. */
  missing?: string;
  /** Why a value is not known. */
  why?: (row: number) => string;
  /** Whether a value leaves something out that is not known. */
  isLeast?: (row: number) => boolean;
  /** The value as the kernel has written it. */
  written?: (row: number) => string;
  /** What the pointer reads on a cell. */
  about?: (row: number) => string;
  mark?: (row: number) => "best" | "worst" | "alarm" | "";
  /** The first click on its head sorts from the smallest. */
  isBestSmall?: boolean;
}

export type Field = TextField | NumberField;

export interface Grid {
  length: number;
  fields: Field[];
}

export interface TableReply {
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

/** A reply in the form of Python's table_wire. */
export async function readTable({ result, buffers }: Reply, widths: Widths = {}): Promise<TableReply> {
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
    const head = { name, title, hint: text(raw.hint) || title, ...(Object.hasOwn(widths, name) && { least: widths[name] as number }) };
    const bytes = await unpacked(buffers[i]);
    if (raw.dtype === "f8") {
      const values = new Float64Array(length).fill(Number.NaN);
      values.set(new Float64Array(bytes.slice().buffer, 0, bytes.byteLength >> 3).subarray(0, length));
      return { ...head, kind: "number", unit, values, why: (row) => why.get(`${row} ${name}`) ?? "not known" };
    }
    const codes = new Int32Array(length).fill(-1);
    codes.set(new Int32Array(bytes.slice().buffer, 0, bytes.byteLength >> 2).subarray(0, length));
    return { ...head, kind: "text", codes, strings: texts(strings[name]), missing: "unknown", why: (row) => why.get(`${row} ${name}`) ?? "" };
  });
  const grid = { length, fields: await Promise.all(read) };
  const more = await Promise.all(buffers.slice(described.length, described.length + 4).map(wholes));
  return { grid, more, result };
}

/** A column of texts, one a row; null where it is not known. */
export function textColumn(name: string, all: (string | null)[], more: Partial<TextField> = {}): TextField {
  const codes = new Map<string, number>();
  for (const one of all) if (one !== null && !codes.has(one)) codes.set(one, codes.size);
  const field: TextField = { kind: "text", name, title: name, hint: name, missing: "", strings: [...codes.keys()], codes: Int32Array.from(all, (one) => (one === null ? -1 : (codes.get(one) as number))) };
  return { ...field, ...more };
}

/** The text of one cell, "" where it has none. */
export function textAt({ fields: columns }: Grid, name: string, row: number): string {
  const field = columns.find((one) => one.name === name);
  const value = field?.kind === "text" ? (field.strings[field.codes[row] ?? -1] ?? "") : "";
  return value === NOTHING ? "" : value;
}

/** Of a list that goes with the rows, one entry. */
export const besides = (raw: unknown, row: number): string => text(Array.isArray(raw) ? raw[row] : "");
