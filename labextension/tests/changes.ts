/** Replies with one part changed, and all that was read of a reply as text: together they show what a reader drops. */

import { gunzipSync, gzipSync } from "node:zlib";
import type { Reply } from "../src/wire/source";

/** Of a list, so many entries are changed, one at a time. */
const CHANGED_OF_LIST = 4;
const ROWS = 40;

export type Path = (string | number)[];

/** The paths of texts, numbers and switches. */
export function leaves(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.slice(0, CHANGED_OF_LIST).flatMap((one, i) => leaves(one, [...path, i]));
  if (value !== null && typeof value === "object") return Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]));
  return value === null ? [] : [path];
}

const other = (value: unknown): unknown => (typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : `${value}!`);

export function changedAt(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return other(value);
  if (Array.isArray(value)) return value.with(key as number, changedAt(value[key as number], rest));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: changedAt(object[key], rest) };
}

const isPacked = (buffer: ArrayBuffer) => new DataView(buffer).byteLength > 2 && new DataView(buffer).getUint16(0) === 0x1f8b;
const unpacked = (buffer: ArrayBuffer) => Uint8Array.from(isPacked(buffer) ? gunzipSync(new Uint8Array(buffer)) : new Uint8Array(buffer));

/** The same bytes with each entry's lowest bits turned over, packed as they were. */
export function changedBuffer(buffer: ArrayBuffer): ArrayBuffer {
  const plain = unpacked(buffer).map((byte) => byte ^ 1);
  return new Uint8Array(isPacked(buffer) ? gzipSync(plain) : plain).buffer;
}

/** All that has been read as text: of functions what they return for each row; without the reply itself. */
export function written(value: unknown, length = 0): string {
  if (typeof value === "function") return Array.from({ length: Math.min(length, ROWS) }, (_, row) => written(value(row))).join("|");
  if (value instanceof Map || value instanceof Set) return written([...value]);
  if (ArrayBuffer.isView(value)) return `[${[...(value as Int32Array)]}]`;
  if (Array.isArray(value)) return `[${value.map((one) => written(one, length)).join(", ")}]`;
  if (value === null || typeof value !== "object") return `${typeof value} ${String(value)}`;
  const rows = Object.entries(value).find(([name]) => name === "length" || name === "values" || name === "codes")?.[1];
  const count = typeof rows === "number" ? rows : ((rows as { length?: number } | undefined)?.length ?? length);
  const parts = Object.entries(value).filter(([name]) => name !== "result");
  return `{${parts.map(([name, one]) => `${name}: ${written(one, count)}`).join(", ")}}`;
}

export interface Column {
  name: string;
  buffer: number;
}

/** The columns that hold something; one of texts also has to have texts. */
export function columnsOf({ result, buffers }: Reply): Column[] {
  const described = (result.columns ?? []) as { name: string; dtype: string }[];
  const strings = (result.strings ?? {}) as Record<string, string[]>;
  const isEmpty = (i: number) => {
    const { name, dtype } = described[i] ?? { name: "", dtype: "" };
    return unpacked(buffers[i] as ArrayBuffer).length === 0 || (dtype === "i4" && strings[name]?.length === 0);
  };
  return buffers.map((_, buffer) => ({ name: described[buffer]?.name ?? `buffer ${buffer}`, buffer })).filter(({ buffer }) => !isEmpty(buffer));
}
