/** The kernel's compiles as it sends them: the list at once, the causes when they are found. */

import { count, fields, list, number, text, texts } from "../../wire/check";
import { gunzip } from "../../wire/gzip";
import type { Reply } from "../../wire/source";
import { outcomeWords } from "./readRecord";

export const MINE = 1;
export const EAGER = 2;
export const IN_SCOPE = 4;
export const FAILED = 8;
export const MENDABLE = 1;
export const WASTED = 2;
export const RECOMPILE = 4;
const MOST_ROWS = 20_000;
const MOST_COLUMNS = 40;
const MOST_CAUSES = 8;
export const STAGES = ["trace", "lower", "compile"] as const;

/** A column of texts: each row's as a number into `strings`, -1 for none. */
export interface Texts {
  codes: Int32Array;
  strings: string[];
}

export interface Compiles {
  length: number;
  number: Int32Array;
  /** The number of the record during which this one ran, -1 for none. */
  parent: Int32Array;
  flags: Int32Array;
  /** Seconds since the first record. */
  began: Float64Array;
  /** From its beginning to its end. */
  span: Float64Array;
  /** Without what was compiled meanwhile; NaN where a stage did not run, negative where its end was not heard. */
  trace: Float64Array;
  lower: Float64Array;
  compile: Float64Array;
  own: Float64Array;
  cell: Texts;
  line: Texts;
  function: Texts;
  outcome: Texts;
  leftOut: number;
  dropped: number;
  /** When the first began, as seconds of the clock; null where there is none. */
  first: number | null;
  /** What the records in scope are of, "" for all. */
  scope: string;
  /** Each eager operation has a row of its own at first. */
  isUnfolded: boolean;
  canRefresh: boolean;
  isOn: boolean;
}

/** How many recompiles there are, how many of them were loaded from the persistent cache, and what they took. */
export interface Recompiles {
  times: number;
  loaded: number;
  seconds: number;
}

/** The recompiles of one function that have one cause, told of the most expensive. */
export interface RecompileCause extends Recompiles {
  number: number;
  why: string;
  advice: string;
}

export interface Headline extends Recompiles {
  number: number;
  function: string;
  mendable: boolean;
  /** The first few, of so many. */
  causes: RecompileCause[];
  causesInAll: number;
}

export interface CompileTotals {
  spent: number | null;
  wasted: number | null;
  avoidable: number | null;
  /** All records were compared; if not, what is wasted and avoidable are lower bounds. */
  isComplete: boolean;
  saved: number | null;
  hits: number;
  isCacheOff: boolean;
}

export interface Causes {
  number: Int32Array;
  nearest: Int32Array;
  flags: Int32Array;
  why: Texts;
  cause: Texts;
  signature: Texts;
  caches: Texts;
  persistent: Texts;
  totals: CompileTotals;
  headline: Headline | null;
}

class Columns {
  private constructor(
    readonly length: number,
    private data: Map<string, Uint8Array>,
    private strings: Record<string, unknown>,
  ) {}

  static async of({ result, buffers }: Reply): Promise<Columns> {
    const names = list(result.columns, MOST_COLUMNS).map((raw) => text(fields(raw).name));
    const unpacked = await Promise.all(names.map((_, i) => gunzip(buffers[i] ?? new ArrayBuffer(0)).catch(() => new Uint8Array(0))));
    return new Columns(Math.min(MOST_ROWS, count(result.length)), new Map(names.map((name, i) => [name, unpacked[i] as Uint8Array])), fields(result.strings));
  }

  wholes(name: string): Int32Array {
    const bytes = this.data.get(name)?.slice() ?? new Uint8Array(0);
    const values = new Int32Array(this.length).fill(-1);
    values.set(new Int32Array(bytes.buffer, 0, bytes.byteLength >> 2).subarray(0, this.length));
    return values;
  }

  reals(name: string): Float64Array {
    const bytes = this.data.get(name)?.slice() ?? new Uint8Array(0);
    const values = new Float64Array(this.length).fill(Number.NaN);
    values.set(new Float64Array(bytes.buffer, 0, bytes.byteLength >> 3).subarray(0, this.length));
    return values;
  }

  texts(name: string): Texts {
    const strings = Object.hasOwn(this.strings, name) ? this.strings[name] : [];
    return { codes: this.wholes(name), strings: texts(strings, MOST_ROWS) };
  }
}

export async function readCompiles(reply: Reply): Promise<Compiles> {
  const { result } = reply;
  const columns = await Columns.of(reply);
  const finite = (values: Float64Array) => values.map((value) => (Number.isFinite(value) ? Math.max(0, value) : 0));
  return {
    length: columns.length,
    number: columns.wholes("number"),
    parent: columns.wholes("parent"),
    flags: columns.wholes("flags"),
    began: finite(columns.reals("began")),
    span: finite(columns.reals("span")),
    trace: columns.reals("trace"),
    lower: columns.reals("lower"),
    compile: columns.reals("compile"),
    own: finite(columns.reals("own")),
    cell: columns.texts("cell"),
    line: columns.texts("line"),
    function: columns.texts("function"),
    outcome: columns.texts("outcome"),
    leftOut: count(result.left_out),
    dropped: count(result.dropped),
    first: number(result.first),
    scope: text(result.scope),
    isUnfolded: result.unfolded === true,
    canRefresh: result.can_refresh === true,
    isOn: result.is_on === true,
  };
}

function readHeadline(raw: unknown): Headline | null {
  if (raw === null || typeof raw !== "object") return null;
  const head = fields(raw);
  const causes = list(head.causes, MOST_CAUSES).map(readRecompileCause);
  return {
    ...readRecompiles(head),
    number: count(head.number),
    function: text(head.function),
    mendable: head.mendable === true,
    causes,
    causesInAll: Math.max(causes.length, count(head.causes_in_all)),
  };
}

const readRecompiles = (raw: Record<string, unknown>): Recompiles => ({ times: count(raw.times), loaded: count(raw.loaded), seconds: number(raw.seconds) ?? 0 });

function readRecompileCause(raw: unknown): RecompileCause {
  const cause = fields(raw);
  return { ...readRecompiles(cause), number: count(cause.number), why: text(cause.why), advice: text(cause.advice) };
}

function readTotals(raw: unknown): CompileTotals {
  const totals = fields(raw);
  return {
    spent: number(totals.spent),
    wasted: number(totals.wasted),
    avoidable: number(totals.avoidable),
    isComplete: totals.is_complete !== false,
    saved: number(totals.saved),
    hits: count(totals.hits),
    isCacheOff: totals.is_cache_off === true,
  };
}

export async function readCauses(reply: Reply): Promise<Causes> {
  const columns = await Columns.of(reply);
  const persistent = columns.texts("persistent");
  return {
    number: columns.wholes("number"),
    nearest: columns.wholes("nearest"),
    flags: columns.wholes("flags"),
    why: columns.texts("why"),
    cause: columns.texts("cause"),
    signature: columns.texts("signature"),
    caches: columns.texts("caches"),
    persistent: { ...persistent, strings: persistent.strings.map(outcomeWords) },
    totals: readTotals(reply.result.totals),
    headline: readHeadline(reply.result.headline),
  };
}

export const textOf = ({ codes, strings }: Texts, row: number): string => strings[codes[row] ?? -1] ?? "";

/** For each row of the list its row of the causes, -1 where that was not sent; both are in the order of their numbers. */
export function causeRows(compiles: Compiles, causes: Causes | null): Int32Array {
  const at = new Map<number, number>();
  causes?.number.forEach((value, row) => at.set(value, row));
  return compiles.number.map((value) => at.get(value) ?? -1);
}
