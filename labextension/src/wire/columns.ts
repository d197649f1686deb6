/** Columns as Python's `panel/wire_form.py` packs them, all of which are read here: numbers, texts, rows of documents. */

import { type Fields, count, fields, list, text, texts } from "./check";
import { gunzip } from "./gzip";
import type { Reply } from "./source";

export const OP = 1;
export const INFERRED = 2;
export const GRADIENT = 4;
/** The row of a source document stands for lines that are not shown. */
export const LEFT_OUT = 8;

type Numbers = Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** A column of texts: each row's as a number into `strings`, -1 for none. */
export interface Texts {
  codes: Int32Array;
  strings: string[];
}

const MOST_COLUMNS = 1000;

const TYPES: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Numbers> = {
  u1: (bytes) => bytes,
  text: (bytes) => bytes,
  i4: ({ buffer, byteLength }) => new Int32Array(buffer, 0, byteLength >> 2),
  f4: ({ buffer, byteLength }) => new Float32Array(buffer, 0, byteLength >> 2),
  f8: ({ buffer, byteLength }) => new Float64Array(buffer, 0, byteLength >> 3),
};

/** Of several answers in one reply the one that `raw` describes. */
export const partOf = (reply: Reply, raw: unknown): Reply => ({ result: fields(raw), buffers: reply.buffers.slice(count(fields(raw).first)) });

/** The columns of a reply by name; of unknown types none. What is asked for has a given length: cut, or filled up. */
export class Columns {
  private constructor(
    /** How the kernel describes each. */
    readonly described: Fields[],
    private found: Map<string, Numbers>,
    private strings: Fields,
  ) {}

  /** Rejects where a buffer is damaged. */
  static async of({ result, buffers }: Reply): Promise<Columns> {
    const described = list(result.columns, MOST_COLUMNS).map(fields);
    const found = new Map<string, Numbers>();
    const unpack = async ({ name, dtype }: Fields, i: number) => {
      const [buffer, type] = [buffers[i], Object.hasOwn(TYPES, text(dtype)) && TYPES[text(dtype)]];
      if (buffer && type) found.set(text(name), type(await gunzip(buffer)));
    };
    await Promise.all(described.map(unpack));
    return new Columns(described, found, fields(result.strings));
  }

  get names(): string[] {
    return [...this.found.keys()];
  }

  has(name: string): boolean {
    return this.found.has(name);
  }

  hasTexts(name: string): boolean {
    return Object.hasOwn(this.strings, name) || this.hasLines(name);
  }

  lengthOf(name: string): number {
    return this.hasLines(name) ? this.lines(name).length : (this.found.get(name)?.length ?? 0);
  }

  private hasLines(name: string): boolean {
    return this.described.some((one) => one.name === name && one.dtype === "text");
  }

  ints(name: string, length = this.lengthOf(name), fill = -1): Int32Array<ArrayBuffer> {
    return this.sized(name, new Int32Array(length).fill(fill));
  }

  floats(name: string, length = this.lengthOf(name), fill = Number.NaN): Float64Array<ArrayBuffer> {
    return this.sized(name, new Float64Array(length).fill(fill));
  }

  singles(name: string, length = this.lengthOf(name)): Float32Array<ArrayBuffer> {
    return this.sized(name, new Float32Array(length));
  }

  bytes(name: string, length = this.lengthOf(name)): Uint8Array<ArrayBuffer> {
    return this.sized(name, new Uint8Array(length));
  }

  /** The texts of a column that has one a line. */
  lines(name: string): string[] {
    const bytes = this.found.get(name);
    return bytes?.length ? new TextDecoder().decode(bytes).split("\n") : [];
  }

  texts(name: string, length = this.lengthOf(name)): Texts {
    if (Object.hasOwn(this.strings, name)) return { codes: this.ints(name, length), strings: texts(this.strings[name]) };
    const strings = this.hasLines(name) ? this.lines(name) : [];
    return { codes: Int32Array.from({ length }, (_, row) => (row < strings.length ? row : -1)), strings };
  }

  private sized<T extends Numbers>(name: string, column: T): T {
    const found = this.found.get(name);
    if (found?.constructor === column.constructor && found.length === column.length) return found as T;
    if (found) column.set(found.subarray(0, column.length));
    return column;
  }
}

export const textAt = ({ codes, strings }: Texts, row: number): string => strings[codes[row] ?? -1] ?? "";

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
  const columns = await Columns.of(reply);
  const optional = (name: string) => (columns.has(name) ? columns.ints(name, length) : null);
  return {
    frame: columns.ints("frame", length),
    flags: columns.bytes("flags", length),
    foldEnd: columns.ints("fold_end", length),
    scope: columns.ints("scope", length),
    scopes: strings(reply.result.scopes),
    origin: optional("origin"),
    file: optional("file"),
    number: optional("number"),
    pair: optional("pair"),
  };
}
