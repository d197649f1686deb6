/** One compile as the kernel describes it. */

import { count, type Fields, fields, list, number, text, textOrNull, texts } from "../../wire/check";
import { duration } from "../../wire/figures";
import { type SourceFile, readFile } from "../../model/frames";
import type { Reply } from "../../wire/source";

export interface Difference {
  kind: string;
  what: string;
  before: string;
  now: string;
}

export interface StageRun {
  name: string;
  seconds: number | null;
  own: number | null;
  cached: boolean | null;
  failed: string;
}

export interface Persistent {
  outcome: string;
  key: string;
  folder: string;
  read: number | null;
  saved: number | null;
  check: string;
  reason: string;
  /** How its key differs from that of the nearest recorded entry; empty for a hit. */
  missed: string[];
  /** Lines of StableHLO in which they differ, after "+" and "-". */
  diff: string[];
}

export interface Place {
  text: string;
  function: string;
}

export interface CompileAbout {
  number: number;
  function: string;
  signature: string;
  why: string;
  /** Why the cause is not known; "" where it is. */
  reason: string;
  differences: Difference[];
  moreDifferences: number;
  /** Why it cannot be opened; "" where it can. */
  notOpened: string;
  nearest: { number: number; line: string; notOpened: string } | null;
  advice: string;
  code: string;
  stages: StageRun[];
  caches: string[];
  outcome: string;
  failed: string;
  persistent: Persistent | null;
  callSite: Place | null;
  userLine: Place | null;
  entry: string;
  asker: string;
  parent: number | null;
  inside: number[];
  moreInside: number;
  options: [name: string, value: string][];
}

const isObject = (raw: unknown): raw is Fields => raw !== null && typeof raw === "object";

function readPlace(raw: unknown): Place | null {
  return isObject(raw) ? { text: text(raw.text), function: text(raw.function) } : null;
}

function readStage(raw: unknown): StageRun {
  const stage = fields(raw);
  const cached = typeof stage.cached === "boolean" ? stage.cached : null;
  return { name: text(stage.name), seconds: number(stage.seconds), own: number(stage.own), cached, failed: text(stage.failed) };
}

function readPersistent(raw: unknown): Persistent | null {
  if (!isObject(raw)) return null;
  const { outcome, key, folder, check, reason } = raw;
  return {
    outcome: text(outcome),
    key: text(key),
    folder: text(folder),
    read: number(raw.read),
    saved: number(raw.saved),
    check: text(check),
    reason: text(reason),
    missed: texts(raw.missed, 60),
    diff: texts(raw.diff, 60),
  };
}

function readDifference(raw: unknown): Difference {
  const { kind, what, before, now } = fields(raw);
  return { kind: text(kind), what: text(what), before: text(before), now: text(now) };
}

export function readRecord({ result }: Reply): CompileAbout {
  const nearest = isObject(result.nearest) ? { number: count(result.nearest.number), line: text(result.nearest.line), notOpened: textOrNull(result.nearest.not_opened) ?? "" } : null;
  return {
    number: count(result.number),
    function: text(result.function),
    signature: text(result.signature),
    why: text(result.why),
    reason: text(result.reason),
    differences: list(result.differences).map(readDifference),
    moreDifferences: count(result.more_differences),
    notOpened: textOrNull(result.not_opened) ?? "",
    nearest,
    advice: text(result.advice),
    code: textOrNull(result.code) ?? "",
    stages: list(result.stages, 20).map(readStage),
    caches: texts(result.caches, 10),
    outcome: text(result.outcome),
    failed: text(result.failed),
    persistent: readPersistent(result.persistent),
    callSite: readPlace(result.call_site),
    userLine: readPlace(result.user_line),
    entry: text(result.entry),
    asker: text(result.asker),
    parent: number(result.parent),
    inside: list(result.inside, 20).map(count),
    moreInside: count(result.more_inside),
    options: list(result.options, 40).map((one) => [text(list(one)[0]), text(list(one)[1])]),
  };
}

/** "0.25 s, of which 0.2 s are its own; looked up": one stage in words. */
export function stageWords({ seconds, own, cached, failed }: StageRun): string {
  const taken = seconds === null ? "its end was not reported" : duration(seconds);
  const rest = seconds !== null && own !== null && own < 0.995 * seconds ? `, ${duration(own)} without what was compiled meanwhile` : "";
  return `${taken}${rest}${cached ? ", from the cache" : ""}${failed ? `, failed: ${failed}` : ""}`;
}

/** "miss, written", "hit, read in 4 ms, saved 12 s": what the persistent cache did. */
export function persistentWords({ outcome, read, saved, check, reason }: Persistent): string {
  const parts = [outcome, check, read === null ? "" : `read in ${duration(read)}`, saved === null ? "" : savedWords(saved), reason];
  return parts.filter(Boolean).join(", ");
}

export const savedWords = (seconds: number): string => (seconds < 0 ? `${duration(-seconds)} slower than compiling` : `saved ${duration(seconds)}`);

/** Where its line is open; null where that is not known. */
export function readMarked({ result }: Reply): { source: SourceFile; line: number } | null {
  return result.file ? { source: readFile(result.file), line: count(result.line) } : null;
}
