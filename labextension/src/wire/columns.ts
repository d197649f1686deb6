import { gunzip } from "./gzip";
import type { Reply } from "./source";

export const OP = 1;
export const INFERRED = 2;
export const GRADIENT = 4;
/** The row of a source document stands for lines that are not shown. */
export const LEFT_OUT = 8;

export type Columns = Map<string, Int32Array | Uint8Array | Float32Array | Float64Array>;

/** The binary columns of a reply, by name; of unknown types none. */
export async function readColumns(reply: Reply): Promise<Columns> {
  const described = Array.isArray(reply.result.columns) ? reply.result.columns : [];
  const columns: Columns = new Map();
  const read = described.map(async (raw: unknown, i: number) => {
    const { name, dtype } = raw as { name?: unknown; dtype?: unknown };
    const buffer = reply.buffers[i];
    if (typeof name !== "string" || !buffer) return;
    const bytes = await gunzip(buffer);
    if (dtype === "u1") columns.set(name, bytes);
    if (dtype === "f4") columns.set(name, new Float32Array(bytes.buffer, 0, bytes.byteLength >> 2));
    if (dtype === "f8") columns.set(name, new Float64Array(bytes.buffer, 0, bytes.byteLength >> 3));
    if (dtype === "i4") columns.set(name, new Int32Array(bytes.buffer, 0, bytes.byteLength >> 2));
  });
  await Promise.all(read);
  return columns;
}

/** A column of exactly `length` entries: cut or filled up where the reply has another length. */
export function int32(columns: Columns, name: string, length: number, fill = -1): Int32Array {
  const found = columns.get(name);
  if (found instanceof Int32Array && found.length === length) return found;
  const column = new Int32Array(length).fill(fill);
  if (found) column.set(found.subarray(0, length));
  return column;
}

export function strings(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.map((item) => String(item)) : [];
}

/** What is known about each row of a document, apart from its text. */
export interface Rows {
  frame: Int32Array;
  flags: Uint8Array;
  foldEnd: Int32Array;
  scope: Int32Array;
  scopes: string[];
  origin: Int32Array | null;
  file: Int32Array | null;
  number: Int32Array | null;
  /** The row of the kernel's other text that it came from: of SASS the PTX. */
  pair: Int32Array | null;
}

export async function readRows(reply: Reply, length: number): Promise<Rows> {
  const columns = await readColumns(reply);
  const optional = (name: string) => (columns.has(name) ? int32(columns, name, length) : null);
  const flags = new Uint8Array(length);
  const found = columns.get("flags");
  if (found) flags.set(found.subarray(0, length));
  return {
    frame: int32(columns, "frame", length),
    flags,
    foldEnd: int32(columns, "fold_end", length),
    scope: int32(columns, "scope", length),
    scopes: strings(reply.result.scopes),
    origin: optional("origin"),
    file: optional("file"),
    number: optional("number"),
    pair: optional("pair"),
  };
}
