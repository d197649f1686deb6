/** What was found in a program, as the kernel tells it, checked and capped. */

import { byName, capped, count, entries, fields, list, number, text, texts } from "../../wire/check";
import { type TableReply, readTable } from "../../wire/tables";
import { partOf } from "../../wire/texts";
import type { Reply } from "../../wire/source";

export interface Trial {
  outcome: string;
  text: string;
  table: TableReply;
}

export interface Finding {
  key: string;
  kind: string;
  text: string;
  stake: string;
  /** Of the whole, 0 to 1; null where it is not known, or where nothing is saved. */
  share: number | null;
  /** Such as "In [3]:7", "" unknown. */
  line: string;
  /** Rows of documents, by kind. */
  rows: [doc: string, rows: number[]][];
  change: { code: string; isDiff: boolean } | null;
  certainty: string;
  caveat: string;
  /** A page about its kind, "" none. */
  more: string;
  tab: string;
  canTry: boolean;
  trial: Trial | null;
}

export interface Findings {
  findings: Finding[];
  looked: string[];
  waiting: string[];
  /** That looking for those takes, null where it is not known. */
  seconds: number | null;
  failures: string[];
}

const MOST = 200;
const MOST_ROWS = 1000;
const LONGEST = 4000;

/** How a trial ended: what stands before its sentence. */
export const OUTCOMES = byName<string>({ pays: "✓", "no change in HLO": "=", "gains nothing": "=", "makes it worse": "✕" });

const short = (value: unknown): string => capped(value, LONGEST);

async function readTrial(reply: Reply, raw: unknown): Promise<Trial | null> {
  if (!raw) return null;
  const { outcome, text: said, table } = fields(raw);
  return { outcome: short(outcome), text: short(said), table: await readTable(partOf(reply, table)) };
}

function readChange(raw: unknown): Finding["change"] {
  const { code, diff } = fields(raw);
  return raw ? { code: short(code), isDiff: diff === true } : null;
}

async function readFinding(reply: Reply, raw: unknown): Promise<Finding> {
  const one = fields(raw);
  const more = short(one.more);
  return {
    key: text(one.key),
    kind: short(one.kind),
    text: short(one.text),
    stake: short(one.stake),
    share: number(one.share),
    line: short(one.line),
    rows: entries(one.rows, MOST).map(([doc, rows]) => [doc, list(rows, MOST_ROWS).map(count)]),
    change: readChange(one.change),
    certainty: short(one.certainty),
    caveat: short(one.caveat),
    more: more.startsWith("https://") ? more : "",
    tab: short(one.tab),
    canTry: one.try === true,
    trial: await readTrial(reply, one.trial),
  };
}

export async function readFindings(reply: Reply): Promise<Findings> {
  const { findings, looked, waiting, seconds, failures } = reply.result;
  return {
    findings: await Promise.all(list(findings, MOST).map((raw) => readFinding(reply, raw))),
    looked: texts(looked, MOST),
    waiting: texts(waiting, MOST),
    seconds: number(seconds),
    failures: texts(failures, MOST),
  };
}

export const readTried = ({ result }: Reply) => ({ outcome: short(result.outcome), text: short(result.text) });
