/** Replies as Python's `panel/wire_form.py` packs them. */

import type { Reply } from "../../src/wire/source";
import { gz } from "../helpers";

export type Column = [dtype: "f8" | "i4" | "u1" | "text", values: number[] | string[], about?: Record<string, unknown>];

const bytesOf = (dtype: Column[0], values: number[]) => (dtype === "f8" ? Float64Array.from(values) : dtype === "u1" ? Uint8Array.from(values) : Int32Array.from(values));

/** A reply of columns. */
export function packed(columns: Record<string, Column>, more: Record<string, unknown> = {}): Reply {
  const described = Object.entries(columns).map(([name, [dtype, , about]]) => ({ name, dtype, ...about }));
  const buffers = Object.values(columns).map(([dtype, values]) => gz(dtype === "text" ? values.join("\n") : new Uint8Array(bytesOf(dtype, values as number[]).buffer)));
  return { result: { columns: described, ...more }, buffers };
}

type Cells = (string | null)[] | (number | null)[];

export interface TableColumn {
  cells: Cells;
  /** Without one it is not shown. */
  title?: string;
  unit?: string;
  hint?: string;
  why?: (string | null)[];
  isFigure?: boolean;
  /** One a line. */
  isLines?: boolean;
}

/** A reply of a table, as `packed_table` makes it; a column of numbers without a title is of whole ones. */
export function tableReply(columns: Record<string, TableColumn>, more: Record<string, unknown> = {}): Reply {
  const made: Record<string, Column> = {};
  const strings: Record<string, string[]> = {};
  const coded = (name: string, cells: (string | null)[]): number[] => {
    const all = [...new Set(cells.filter((cell) => cell !== null))];
    strings[name] = all;
    return cells.map((cell) => (cell === null ? -1 : all.indexOf(cell)));
  };
  for (const [name, { cells, title, unit = "", hint = "", why, isFigure, isLines }] of Object.entries(columns)) {
    const isText = isFigure !== undefined || cells.some((cell) => typeof cell === "string");
    const about = title === undefined ? {} : isFigure === undefined ? { title, unit, hint } : { title, hint, figure: isFigure };
    const numbers = isText && !isLines ? coded(name, cells as string[]) : (cells as (number | null)[]).map((cell) => cell ?? Number.NaN);
    if (isLines) made[name] = ["text", cells as string[], about];
    else made[name] = [isText || title === undefined ? "i4" : "f8", numbers, about];
    if (why) made[`${name}: why`] = ["i4", coded(`${name}: why`, why)];
  }
  return packed(made, { strings, ...more });
}

/** Several in one reply, as Python's `joined` makes them; `after` so many buffers. */
export function joined(answers: Record<string, Reply>, after = 0): Reply {
  const buffers: ArrayBuffer[] = [];
  const result: Record<string, unknown> = {};
  for (const [name, answer] of Object.entries(answers)) {
    result[name] = { ...answer.result, first: after + buffers.length };
    buffers.push(...answer.buffers);
  }
  return { result, buffers };
}
