/** Columns of texts, and answers that have several tables. */

import { count, fields, texts } from "./check";
import type { Columns } from "./columns";
import type { Reply } from "./source";

/** Each row's text, as a number into `strings`, -1 for none. */
export interface Texts {
  codes: Int32Array;
  strings: string[];
}

/** Of several answers in one reply the one that `raw` describes. */
export const partOf = (reply: Reply, raw: unknown): Reply => ({ result: fields(raw), buffers: reply.buffers.slice(count(fields(raw).first)) });

export const isText = ({ strings, described }: Columns, name: string): boolean =>
  Object.hasOwn(strings, name) || described.some((one) => one.name === name && one.dtype === "text");

/** The texts of a column that has one a line. */
export function linesOf({ found }: Columns, name: string): string[] {
  const bytes = found.get(name);
  return bytes?.length ? new TextDecoder().decode(bytes).split("\n") : [];
}

export function textsOf(columns: Columns, name: string, length = columns.lengthOf(name)): Texts {
  if (Object.hasOwn(columns.strings, name)) return { codes: columns.ints(name, length), strings: texts(columns.strings[name]) };
  const strings = isText(columns, name) ? linesOf(columns, name) : [];
  return { codes: Int32Array.from({ length }, (_, row) => (row < strings.length ? row : -1)), strings };
}

export const textIn = ({ codes, strings }: Texts, row: number): string => strings[codes[row] ?? -1] ?? "";
