/** Tables: columns of texts and numbers, whatever reply they came in; and the form in which the kernel sends most of them. */

import { type Fields, text } from "./check";
import { Columns } from "./columns";
import { Refusal } from "./errors";
import { percent } from "./figures";
import type { Reply } from "./source";
import { isText, linesOf, textIn, textsOf } from "./texts";

interface Head {
  name: string;
  title: string;
  hint: string;
  /** Pixels it needs; without, as many as its longest text. */
  least?: number;
  /** What the table is opened for: it is whole, in several lines where it must, before others have room. */
  isAnswer?: boolean;
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
  /** A second, smaller line of the cell, "" for none. */
  below?: (row: number) => string;
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
  /** The rows of the document that the table's rows lead to, -1 for none. */
  row: Int32Array;
  /** All that came, also what the grid does not show. */
  columns: Columns;
  result: Fields;
}

/** What the kernel sends for a text that is known and empty. */
const NOTHING = "–";

/** Pixels that a column needs, by its name. */
export type Widths = Record<string, number>;

const lengthOf = (columns: Columns, name: string): number =>
  isText(columns, name) && !Object.hasOwn(columns.strings, name) ? linesOf(columns, name).length : columns.lengthOf(name);

/** A reply in the form of Python's `packed_table`. */
export async function readTable(reply: Reply, widths: Widths = {}): Promise<TableReply> {
  const columns = await Columns.of(reply);
  const shown = columns.described.filter((one) => text(one.title));
  if (!Array.isArray(reply.result.columns) || shown.length < Math.min(1, columns.described.length)) throw new Refusal("Another version of JAXStage saved this table; run the cell to see it.", "absent");
  const length = shown.reduce((most, { name }) => Math.max(most, lengthOf(columns, text(name))), 0);
  const read = (raw: Fields): Field => {
    const [name, title] = [text(raw.name), text(raw.title)];
    const why = textsOf(columns, `${name}: why`, length);
    const head = { name, title, hint: text(raw.hint) || title, ...(Object.hasOwn(widths, name) && { least: widths[name] as number }), ...(raw.answer === true && { isAnswer: true }) };
    if (isText(columns, name)) return { ...head, kind: "text", ...textsOf(columns, name, length), missing: "unknown", isFigure: raw.figure === true, why: (row) => textIn(why, row) };
    const field: NumberField = { ...head, kind: "number", unit: text(raw.unit), values: columns.floats(name, length), why: (row) => textIn(why, row) || "not known" };
    return field.unit === SHARE ? asShare(field) : field;
  };
  return { grid: { length, fields: shown.map(read) }, row: columns.ints("row", length), columns, result: reply.result };
}

/** The unit of parts of a whole, 0 to 1. */
const SHARE = "share";

function asShare(field: NumberField): NumberField {
  const written = (row: number) => (Number.isFinite(field.values[row]) ? percent(field.values[row] as number, 1) : "unknown");
  return { ...field, unit: "", least: 62, written };
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
