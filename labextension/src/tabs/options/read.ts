/** XLA's flags as the kernel lists them: read, searched, and as a magic's line takes them. */

import { type Fields, fields, list, sentences, text, textOrNull } from "../../wire/check";
import type { Reply } from "../../wire/source";

export interface Flag {
  name: string;
  /** null for what is set but stands in no list, such as libtpu's own flags. */
  type: string | null;
  values: string[];
  /** What holds where nothing is set; null where unknown. */
  fallback: string | null;
  /** What the call sets; null where it sets nothing. */
  set: string | null;
}

/** A compile option that XLA was given, where it is not its default. */
export interface Received {
  name: string;
  value: string;
  /** XLA's; null where unknown. */
  fallback: string | null;
  /** "this call", "jax.jit", "jax.config", "environment", "XLA_FLAGS" or "JAX". */
  from: string;
  /** The entry of jax.config, the variable or the parameter. */
  by: string;
  note: string;
}

export interface FlagTable {
  received: Received[];
  /** Why it is not known what XLA was given; "" where it is. */
  unknown: string;
  /** A sentence about the options that are not listed. */
  rest: string;
  flags: Flag[];
  /** Why there is no list; "" where there is. */
  problem: string;
}

/** What the kernel says of a flag without a value. */
const NOT_SET = "(not set)";
const MAX_FLAGS = 2000;
const MAX_RECEIVED = 200;
const MAX_VALUES = 100;
const MOST_SIMILAR = 20;


export function readFlags({ result }: Reply): FlagTable {
  const flags = list(result.flags, MAX_FLAGS).map(fields).map((flag) => ({
    name: text(flag.name),
    type: textOrNull(flag.type),
    values: sentences(flag.values, MAX_VALUES),
    fallback: textOrNull(flag.default),
    set: textOrNull(flag.set),
  }));
  return {
    received: list(result.received, MAX_RECEIVED).map(fields).map(readReceived),
    unknown: text(result.unknown),
    rest: text(result.rest),
    flags: flags.filter((flag) => flag.name),
    problem: text(result.problem),
  };
}

const readReceived = (raw: Fields): Received => ({
  name: text(raw.name),
  value: text(raw.value),
  fallback: textOrNull(raw.default),
  from: text(raw.from),
  by: text(raw.by),
  note: text(raw.note),
});

export const KINDS = ["set here", "cpu", "gpu", "tpu", "dumps and debug"] as const;
export type Kind = (typeof KINDS)[number];

const DEBUG = /(^|_)(dump\w*|debug|log|logging|print|profile\w*|trace\w*|snapshots)(_|$)/;

export function isOf(kind: Kind, flag: Flag): boolean {
  if (kind === "set here") return flag.set !== null;
  if (kind === "dumps and debug") return DEBUG.test(flag.name);
  return flag.name.startsWith(`xla_${kind}_`);
}

/** A flag that holds a structure cannot be set for one call. */
export const canSet = (flag: Flag): boolean => !flag.type?.startsWith("message");

/** Whether a call's value is another than the one that would hold anyway. */
export const isChanged = (flag: Flag): boolean => flag.set !== null && flag.set !== flag.fallback;

/** Length of the shortest stretch that holds the letters in this order; Infinity where there is none. */
function spread(letters: string, name: string): number {
  let best = Infinity;
  for (let start = name.indexOf(letters[0] ?? ""); start >= 0; start = name.indexOf(letters[0] ?? "", start + 1)) {
    let at = start;
    for (const letter of letters.slice(1)) if (at >= 0) at = name.indexOf(letter, at + 1);
    if (at >= 0) best = Math.min(best, at - start);
  }
  return best;
}

export interface Found {
  flags: Flag[];
  /** None holds the words; these hold their letters in order, closest first. */
  similar: boolean;
}

/** The flags of a kind whose names or values hold all words, in any order; else those that come close. */
export function matching(flags: Flag[], query: string, kind: Kind | null): Found {
  const pool = kind ? flags.filter((flag) => isOf(kind, flag)) : flags;
  const words = query.toLowerCase().replace(/^--/, "").split(/[\s_=-]+/).filter(Boolean);
  const holds = (flag: Flag) => {
    const text = `${flag.name} ${flag.values.join(" ")} ${flag.set ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = pool.filter(holds);
  if (found.length || words.length === 0) return { flags: found, similar: false };
  const letters = words.join("");
  const near = pool
    .map((flag) => ({ flag, far: spread(letters, flag.name.replaceAll("_", "")) }))
    .filter(({ far }) => far <= 3 * letters.length)
    .sort((a, b) => a.far - b.far);
  return { flags: near.slice(0, MOST_SIMILAR).map(({ flag }) => flag), similar: near.length > 0 };
}

/** What a copy offers where no value is named: the one that is set, of a switch the other one, else what holds. */
export function offered(flag: Flag): string {
  if (flag.set !== null) return flag.set;
  if (flag.type === "bool") return flag.fallback === "True" ? "False" : "True";
  return flag.fallback === null || flag.fallback === NOT_SET ? "" : flag.fallback;
}

/** A flag on the line of a magic. */
export function onLine(flag: Flag, value = offered(flag)): string {
  const text = `${flag.name}=${value}`;
  return /^[\w=.,:/+-]*$/.test(text) ? `--xla ${text}` : `--xla "${text.replaceAll('"', '\\"')}"`;
}
