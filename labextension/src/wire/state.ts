/** What the kernel pushes: the summaries of all calls. Read from untrusted JSON, so every field is checked and capped. */

import { capped, count, entries, type Fields, fields, list, number, sentences, text, textOrNull } from "./check";

const STATES = ["waiting", "running", "done", "failed", "interrupted", "given", "not given", "not reached"] as const;
export type StageState = (typeof STATES)[number];

export interface Stage {
  name: string;
  state: StageState;
  seconds: number | null;
  /** Seconds that it had been running when the kernel said so. */
  elapsed: number | null;
  count: string | null;
  note: string | null;
}

export interface Fact {
  label: string;
  text: string;
  isUnknown: boolean;
  /** Why it is not known. */
  reason: string | null;
  /** What it counts, or leaves out. */
  note: string | null;
}

export interface DocumentInfo {
  kind: string;
  title: string;
  lines: number;
  bytes: number;
}

export interface StageFailure {
  stage: string;
  type: string;
  message: string;
  /** What that means, where JAXStage knows it; else "". */
  explanation: string;
  /** Whether a worker's log may say more. */
  hasLog: boolean;
  file: string | null;
  label: string | null;
  line: number | null;
  interrupted: boolean;
}

export interface Coverage {
  direct: number;
  /** Linked to a line of a library, because no line of the user's own made them. */
  library: number;
  inferred: number;
  total: number;
}

export interface Summary {
  name: string;
  signature: string;
  target: string;
  options: [name: string, value: string][];
  stages: Stage[];
  facts: Fact[];
  coverage: Coverage | null;
  documents: DocumentInfo[];
  error: StageFailure | null;
  notes: string[];
  /** How many of the notes, the first, say that something is wrong. */
  urgent: number;
  /** The best finding in a sentence, or what was not looked for; "" nothing. */
  finding: string;
  /** Names of the panel's views that have something to show for this call. */
  views: string[];
  /** The tab that opens first, "" for the code. */
  open: string;
  /** Its targets side by side, as the tab of that name reads them; null where there is one. */
  compare: unknown;
  /** Whether a worker process, which has a log of its own, compiles it. */
  worker: boolean;
}

export interface PanelState {
  calls: Summary[];
  busy: boolean;
  /** Names the run of the cell: where it changes, nothing that was fetched before holds. */
  run: string;
}

/** Of what an error says, and of a signature. */
const LONGEST = 100_000;
const MAX_NAME = 40;

/** What is no state counts as waiting. */
export const stageState = (raw: unknown): StageState => STATES.find((state) => state === raw) ?? "waiting";

function readStage(raw: Fields): Stage {
  return {
    name: text(raw.name),
    state: stageState(raw.state),
    seconds: number(raw.seconds),
    elapsed: number(raw.elapsed),
    count: textOrNull(raw.count),
    note: textOrNull(raw.note),
  };
}

export function readDocument(raw: Fields): DocumentInfo {
  return { kind: text(raw.kind), title: text(raw.title) || text(raw.kind), lines: count(raw.lines), bytes: count(raw.bytes) };
}

function readFact(raw: Fields): Fact {
  return {
    label: text(raw.label),
    text: text(raw.text),
    isUnknown: raw.known === false,
    reason: textOrNull(raw.reason),
    note: textOrNull(raw.note),
  };
}

function readError(summary: Fields): StageFailure | null {
  if (summary.error === null || typeof summary.error !== "object") return null;
  const error = fields(summary.error);
  return {
    stage: text(error.stage),
    type: text(error.type),
    message: capped(error.message, LONGEST),
    explanation: capped(error.told, LONGEST),
    hasLog: error.log === true,
    file: textOrNull(error.file),
    label: textOrNull(error.label),
    line: number(error.line),
    interrupted: error.interrupted === true,
  };
}

function readCoverage(raw: unknown): Coverage | null {
  const coverage = fields(raw);
  const total = number(coverage.total);
  return total === null ? null : { direct: count(coverage.direct), library: count(coverage.library), inferred: count(coverage.inferred), total };
}

function readOptions(raw: unknown): [string, string][] {
  return entries(raw).map(([name, value]) => [name, shown(value)]);
}

/** A compile option's value as Python writes it. */
function shown(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : text(value);
}

/** Without a call the kernel names other views than the code. */
function readViews(raw: unknown): string[] {
  const names = [...new Set(list(raw).map((name) => capped(name, MAX_NAME)))].filter(Boolean);
  return names.length ? names : ["code"];
}

function readSummary(raw: Fields): Summary {
  return {
    name: text(raw.name),
    signature: capped(raw.signature, LONGEST),
    target: text(raw.target),
    options: readOptions(raw.options),
    stages: list(raw.stages).map(fields).map(readStage),
    facts: list(raw.facts).map(fields).map(readFact),
    coverage: readCoverage(raw.coverage),
    documents: list(raw.documents).map(fields).map(readDocument),
    error: readError(raw),
    notes: sentences(raw.notes),
    urgent: count(raw.urgent),
    finding: text(raw.finding),
    views: readViews(raw.views),
    open: capped(raw.open, MAX_NAME),
    compare: raw.compare ?? null,
    worker: raw.worker === true,
  };
}

export function readState(raw: unknown): PanelState {
  const state = fields(raw);
  return { calls: list(state.calls).map(fields).map(readSummary), busy: state.busy === true, run: capped(state.run, MAX_NAME) };
}
