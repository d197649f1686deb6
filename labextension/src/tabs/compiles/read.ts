/** The kernel's compiles as it sends them: the list at once, the causes when they are found. */

import { count, fields, list, number, text } from "../../wire/check";
import { Columns } from "../../wire/columns";
import { type Texts, textsOf } from "../../wire/texts";
import type { Reply } from "../../wire/source";

export const MINE = 1;
export const EAGER = 2;
export const IN_SCOPE = 4;
export const FAILED = 8;
export const MENDABLE = 1;
export const WASTED = 2;
export const RECOMPILE = 4;
const MOST_CAUSES = 8;
export const STAGES = ["trace", "lower", "compile"] as const;

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

export async function readCompiles(reply: Reply): Promise<Compiles> {
  const { result } = reply;
  const columns = await Columns.of(reply);
  const length = columns.lengthOf("number");
  const finite = (values: Float64Array) => values.map((value) => (Number.isFinite(value) ? Math.max(0, value) : 0));
  return {
    length,
    number: columns.ints("number", length),
    parent: columns.ints("parent", length),
    flags: columns.ints("flags", length),
    began: finite(columns.floats("began", length)),
    span: finite(columns.floats("span", length)),
    trace: columns.floats("trace", length),
    lower: columns.floats("lower", length),
    compile: columns.floats("compile", length),
    own: finite(columns.floats("own", length)),
    cell: textsOf(columns, "cell", length),
    line: textsOf(columns, "line", length),
    function: textsOf(columns, "function", length),
    outcome: textsOf(columns, "outcome", length),
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
  const length = columns.lengthOf("number");
  return {
    number: columns.ints("number", length),
    nearest: columns.ints("nearest", length),
    flags: columns.ints("flags", length),
    why: textsOf(columns, "why", length),
    cause: textsOf(columns, "cause", length),
    signature: textsOf(columns, "signature", length),
    caches: textsOf(columns, "caches", length),
    persistent: textsOf(columns, "persistent", length),
    totals: readTotals(reply.result.totals),
    headline: readHeadline(reply.result.headline),
  };
}

/** For each row of the list its row of the causes, -1 where that was not sent; both are in the order of their numbers. */
export function causeRows(compiles: Compiles, causes: Causes | null): Int32Array {
  const at = new Map<number, number>();
  causes?.number.forEach((value, row) => at.set(value, row));
  return compiles.number.map((value) => at.get(value) ?? -1);
}
