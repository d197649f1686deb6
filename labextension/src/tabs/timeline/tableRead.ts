/** The tables of a timeline as the kernel sends them: what rows lead to, and figures as people read them. */

import { count, fields, list, number, sentences, text } from "../../wire/check";
import { counted, duration } from "../../wire/figures";
import type { Reply } from "../../wire/source";
import { type Field, type Grid, readTable, textAt } from "../../wire/tables";

export const TABLES: readonly (readonly [name: string, title: string, hint: string])[] = [
  ["lines", "Lines", "time by source line"],
  ["exposed", "Exposed", "collectives by the time that nothing hides, and the work after them that could"],
  ["ops", "HLO ops", "time by HLO instruction"],
  ["kernels", "Kernels", "time by kernel"],
  ["scopes", "Scopes", "time by name scope"],
  ["kinds", "Kinds", "time by kind: op, copy, collective"],
  ["gaps", "Gaps", "the longest times in which a device idles, and what it or the host does meanwhile"],
  ["waits", "Waits", "which process begins a collective last, and how long others wait for it"],
  ["compiles", "Compiles", "tracing, lowering and compiling during the profile"],
  ["steps", "Steps", "each step or execution, with its busy time"],
  ["ranges", "Ranges", "time by range that a kernel recorded on the device, or that you named"],
];

/** Of the timeline, in seconds since the recording's origin. */
export interface Range {
  from: number;
  to: number;
}

export interface TimelineTable {
  grid: Grid;
  /** Rows of the HLO document, -1 for none. */
  hloRows: Int32Array;
  /** What a row covers of the timeline; empty for tables whose rows are spread over it. */
  spans: (Range | null)[];
  total: number;
  notes: string[];
  /** In place of the rows, where there are none. */
  nothing: string;
}

const WIDTHS = { collective: 180, "waits for": 180, independent: 190, "independent line": 130, host: 330, event: 260, line: 110, code: 220, op: 130, kernel: 220, range: 220, scope: 240, kind: 110, during: 200, step: 90, name: 200, function: 120, stage: 80, cause: 200 };
const MOST_SPANS = 100_000;

/** Names and sentences, which are told by their beginning. */
const FROM_THE_START = new Set(["host", "kernel", "event", "thread", "op", "range", "collective", "waits for"]);

function shown(field: Field): Field {
  if (field.name === "code" && field.kind === "text") return { ...field, isCode: true, missing: "" };
  return field.kind === "text" && FROM_THE_START.has(field.name) ? { ...field, isCode: true } : field;
}

function readSpan(raw: unknown): Range | null {
  const [from, to] = list(raw, 2).map(number);
  return from != null && to != null && from <= to ? { from, to } : null;
}

export async function readTimelineTable(reply: Reply): Promise<TimelineTable> {
  const { grid, row, result } = await readTable(reply, WIDTHS);
  return {
    grid: { length: grid.length, fields: grid.fields.map(shown) },
    hloRows: row,
    spans: list(result.spans, MOST_SPANS).map(readSpan),
    total: Math.max(grid.length, count(result.total)),
    notes: sentences(result.notes),
    nothing: text(result.nothing) || "Nothing to list.",
  };
}

/** The source line that a row names, "" for none. */
export const lineAt = (table: TimelineTable, row: number): string => textAt(table.grid, "line", row);

/** 4.2 ms: a stretch of the timeline, in seconds. */
export const lasting = (seconds: number): string => duration(seconds);

export interface Device {
  name: string;
  /** In seconds; null where not known. */
  busy: number | null;
  idle: number | null;
  exposed: number | null;
  window: number | null;
  about: string;
}

export interface Loss {
  text: string;
  /** null where the profile does not say how many. */
  count: number | null;
}

export interface TimelineHead {
  /** Of a prediction for what it is and what it rests on; "" of what was measured. */
  predicted: string;
  headline: string;
  kept: string;
  losses: Loss[];
  /** Which clocks and modes the figures are of. */
  modes: string[];
  window: string;
  devices: Device[];
  notes: string[];
  tables: string[];
  start: number;
  end: number;
  events: number;
}

const MOST_DEVICES = 64;

function readDevice(raw: unknown): Device {
  const device = fields(raw);
  const [busy, idle, exposed, window] = [device.busy, device.idle, device.exposed, device.window].map(number) as (number | null)[];
  return { name: text(device.name), busy: busy ?? null, idle: idle ?? null, exposed: exposed ?? null, window: window ?? null, about: text(device.about) };
}

export function readHead({ result }: Reply): TimelineHead {
  return {
    predicted: text(result.predicted),
    headline: text(result.headline),
    kept: text(result.kept),
    losses: list(result.losses).map(fields).map((loss) => ({ text: text(loss.text), count: number(loss.count) })),
    modes: sentences(result.modes),
    window: text(result.window),
    devices: list(result.devices, MOST_DEVICES).map(readDevice),
    notes: sentences(result.notes),
    tables: sentences(result.tables),
    start: number(result.start) ?? 0,
    end: number(result.end) ?? 0,
    events: count(result.events),
  };
}

/** "busy 4.2 ms of 6.1 ms": the device's time in words. */
export function deviceWords({ name, busy, idle, exposed, window }: Device): string {
  const said = (value: number | null) => (value === null ? "unknown" : duration(value));
  const parts = [`${name}: busy ${said(busy)} of ${said(window)}`, `idle ${said(idle)}`];
  if (exposed) parts.push(`exposed collectives ${said(exposed)}`);
  return parts.join(", ");
}

/** How many, or that the number is not known. */
export const lossWords = ({ text: words, count: many }: Loss): string => `${many === null ? "an unknown number of" : counted(many)} events: ${words}`;
