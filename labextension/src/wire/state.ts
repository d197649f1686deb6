/** What the kernel pushes: the summaries of all calls. Read from untrusted JSON, so every field is checked and capped. */

import { type Compare, readCompare } from "../tabs/compare/read";

export type StageState = "waiting" | "running" | "done" | "failed" | "interrupted";

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
  reason: string | null;
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
  told: string;
  file: string | null;
  label: string | null;
  line: number | null;
  interrupted: boolean;
}

export interface Coverage {
  direct: number;
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
  /** Names of the panel's views that have something to show for this call. */
  views: string[];
  /** Its targets side by side; null where there is one. */
  compare: Compare | null;
  /** Whether a worker process, which has a log of its own, compiles it. */
  worker: boolean;
}

export interface PanelState {
  calls: Summary[];
  busy: boolean;
}

const MAX_LIST = 200;
const MAX_TEXT = 100_000;
const MAX_NAME = 40;
const STATES: readonly string[] = ["waiting", "running", "done", "failed", "interrupted"];

type Fields = Record<string, unknown>;

const fields = (raw: unknown): Fields => (raw !== null && typeof raw === "object" ? (raw as Fields) : {});
const list = (raw: unknown): Fields[] => (Array.isArray(raw) ? raw.slice(0, MAX_LIST).map(fields) : []);
const orNull = (raw: unknown): string | null => (typeof raw === "string" ? raw.slice(0, MAX_TEXT) : null);
const text = (raw: unknown): string => orNull(raw) ?? "";
const number = (raw: unknown): number | null => (typeof raw === "number" && Number.isFinite(raw) ? raw : null);
const count = (raw: unknown): number => Math.max(0, Math.floor(number(raw) ?? 0));

function readStage(raw: Fields): Stage {
  const state = text(raw.state);
  return {
    name: text(raw.name),
    state: STATES.includes(state) ? (state as StageState) : "waiting",
    seconds: number(raw.seconds),
    elapsed: number(raw.elapsed),
    count: orNull(raw.count),
    note: orNull(raw.note),
  };
}

function readError(raw: unknown): StageFailure | null {
  if (raw === null || typeof raw !== "object") return null;
  const error = fields(raw);
  return {
    stage: text(error.stage),
    type: text(error.type),
    message: text(error.message),
    told: text(error.told),
    file: orNull(error.file),
    label: orNull(error.label),
    line: number(error.line),
    interrupted: error.interrupted === true,
  };
}

function readCoverage(raw: unknown): Coverage | null {
  const coverage = fields(raw);
  const total = number(coverage.total);
  return total === null ? null : { direct: count(coverage.direct), inferred: count(coverage.inferred), total };
}

function readOptions(raw: unknown): [string, string][] {
  return Object.entries(fields(raw))
    .slice(0, MAX_LIST)
    .map(([name, value]) => [name.slice(0, MAX_TEXT), shown(value)]);
}

/** A compile option's value as Python writes it. */
function shown(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : text(value);
}

/** The code is always there. */
function readViews(raw: unknown): string[] {
  const names = Array.isArray(raw) ? raw.slice(0, MAX_LIST).map((name) => text(name).slice(0, MAX_NAME)) : [];
  return ["code", ...new Set(names.filter((name) => name && name !== "code"))];
}

function readSummary(raw: Fields): Summary {
  return {
    name: text(raw.name),
    signature: text(raw.signature),
    target: text(raw.target),
    options: readOptions(raw.options),
    stages: list(raw.stages).map(readStage),
    facts: list(raw.facts).map((f) => ({ label: text(f.label), text: text(f.text), reason: orNull(f.reason) })),
    coverage: readCoverage(raw.coverage),
    documents: list(raw.documents).map((d) => ({
      kind: text(d.kind),
      title: text(d.title) || text(d.kind),
      lines: count(d.lines),
      bytes: count(d.bytes),
    })),
    error: readError(raw.error),
    notes: Array.isArray(raw.notes) ? raw.notes.slice(0, MAX_LIST).map(text).filter(Boolean) : [],
    views: readViews(raw.views),
    compare: readCompare(raw.compare),
    worker: raw.worker === true,
  };
}

export function readState(raw: unknown): PanelState {
  const state = fields(raw);
  return { calls: list(state.calls).map(readSummary), busy: state.busy === true };
}
