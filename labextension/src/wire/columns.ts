/** Columns as Python's `panel/wire_form.py` packs them, all of which are read here: numbers, texts, rows of documents. */

import { type Fields, byName, fields, list, text } from "./check";
import { gunzip } from "./gzip";
import type { Reply } from "./source";

export const OP = 1;
export const INFERRED = 2;
export const GRADIENT = 4;
/** The row of a source document stands for lines that are not shown. */
export const LEFT_OUT = 8;

type Numbers = Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const MOST_COLUMNS = 1000;

const TYPES = byName<(bytes: Uint8Array<ArrayBuffer>) => Numbers>({
  u1: (bytes) => bytes,
  text: (bytes) => bytes,
  i4: ({ buffer, byteLength }) => new Int32Array(buffer, 0, byteLength >> 2),
  f4: ({ buffer, byteLength }) => new Float32Array(buffer, 0, byteLength >> 2),
  f8: ({ buffer, byteLength }) => new Float64Array(buffer, 0, byteLength >> 3),
});

/** The columns of a reply by name; of unknown types none. What is asked for has a given length: cut, or filled up. */
export class Columns {
  private constructor(
    /** How the kernel describes each. */
    readonly described: Fields[],
    readonly found: Map<string, Numbers>,
    readonly strings: Fields,
  ) {}

  /** Rejects where a buffer is damaged. */
  static async of({ result, buffers }: Reply): Promise<Columns> {
    const described = list(result.columns, MOST_COLUMNS).map(fields);
    const unpacked = await Promise.all(
      described.map(async ({ name, dtype }, i): Promise<[string, Numbers][]> => {
        const [buffer, type] = [buffers[i], TYPES[text(dtype)]];
        return buffer && type ? [[text(name), type(await gunzip(buffer))]] : [];
      }),
    );
    return new Columns(described, new Map(unpacked.flat()), fields(result.strings));
  }

  lengthOf(name: string): number {
    return this.found.get(name)?.length ?? 0;
  }

  ints(name: string, length = this.lengthOf(name), fill = -1): Int32Array<ArrayBuffer> {
    return this.sized(name, new Int32Array(length).fill(fill));
  }

  floats(name: string, length = this.lengthOf(name), fill = Number.NaN): Float64Array<ArrayBuffer> {
    return this.sized(name, new Float64Array(length).fill(fill));
  }

  /** The column where it has the type and length of `column`, else as much of it as fits in there. */
  sized<T extends Numbers>(name: string, column: T): T {
    const found = this.found.get(name);
    if (found?.constructor === column.constructor && found.length === column.length) return found as T;
    if (found) column.set(found.subarray(0, column.length));
    return column;
  }
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
}

export async function readRows(reply: Reply, length: number): Promise<Rows> {
  const columns = await Columns.of(reply);
  const optional = (name: string) => (columns.found.has(name) ? columns.ints(name, length) : null);
  return {
    frame: columns.ints("frame", length),
    flags: columns.sized("flags", new Uint8Array(length)),
    foldEnd: columns.ints("fold_end", length),
    scope: columns.ints("scope", length),
    scopes: strings(reply.result.scopes),
    origin: optional("origin"),
    file: optional("file"),
    number: optional("number"),
  };
}
