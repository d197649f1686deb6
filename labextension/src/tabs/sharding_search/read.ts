/** What a search of layouts found, as the kernel tells it, checked and capped. */

import { count, fields, list, number, sentences, text, whole } from "../../wire/check";
import { Columns } from "../../wire/columns";
import { scaled } from "../../wire/figures";
import type { Reply } from "../../wire/source";
import { type TableReply, readTable } from "../../wire/tables";
import { linesOf, partOf, textIn, textsOf } from "../../wire/texts";

export const [ESTIMATE, FITS, TOO_LARGE, FAILED, COMPILED] = [0, 1, 2, 3, 4] as const;

/** What is known of whether a layout runs, by its state. */
export const STATES = ["an estimate; compiling it tells whether it fits", "compiled: it fits", "compiled: it does not fit", "the compile failed", "compiled; whether it fits is not known"] as const;

/** The layouts, the fastest first; NaN where a figure is not known. */
export interface Layouts {
  length: number;
  /** What names a layout in requests. */
  number: Int32Array;
  time: Float32Array;
  least: Float32Array;
  most: Float32Array;
  /** Bytes of the arguments on one device, exact. */
  arguments: Float32Array;
  /** Bytes that XLA allocates on one device, of what was compiled. */
  needed: Float32Array;
  state: Uint8Array;
  /** No other layout is both faster and smaller. */
  front: Uint8Array;
  /** Of each row, which of `kinds`; -1 for none. */
  kind: Int32Array;
  kinds: string[];
  mesh: (row: number) => string;
  /** What a compile gave, in a few words; "no" of an estimate. */
  compiled: (row: number) => string;
  /** How many times the time of the best, "1.8x" by the estimates, "1.8x compiled". */
  ratio: (row: number) => string;
  /** In words: its kind, and what each axis does. */
  titles: string[];
}

/** The time of a layout in words. */
export function timeOf({ layouts, hasSeconds }: Found, row: number): string {
  const value = layouts.time[row] ?? Number.NaN;
  if (!Number.isFinite(value)) return "time unknown";
  if (!hasSeconds) return `${factor(value)} the cost of the cheapest; times of this device are unknown`;
  const [least, most] = [layouts.least[row] as number, layouts.most[row] as number];
  return `${scaled(value, "s")} a call${most > least ? `, between ${scaled(least, "s")} and ${scaled(most, "s")}` : ""}`;
}

export const seconds = (value: number | null): string => (value === null ? "unknown" : value > 0 && value < 1e-9 ? "<1 ns" : scaled(value, "s"));

/** 1.04x, 1.8x, 12x */
export const factor = (times: number): string => (Number.isFinite(times) ? `${times < 1.095 ? times.toFixed(2) : String(Number(times.toPrecision(2)))}x` : "");

export interface Found {
  /** Of the search as a whole: what to take, and by how much. */
  headline: string;
  /** What the best was compared with, and whether it fits. */
  said: string;
  notes: string[];
  target: string;
  /** Bytes of one device; null where they are not known. */
  capacity: number | null;
  /** All that were tried; `layouts` may have fewer. */
  tried: number;
  /** Rows, -1 for none. */
  best: number;
  own: number;
  /** Such as "own: 1.8x the best". */
  ownSaid: string;
  /** The best row of each kind, the fastest first. */
  bests: number[];
  /** Whether the times are known; else they are costs, of which the least is 1. */
  hasSeconds: boolean;
  layouts: Layouts;
}

export interface Asked {
  mesh: string;
  budget: number;
}

export interface Search {
  /** Why there is nothing to search, "" where there is. */
  cannot: string;
  /** What a search begins with: the user's mesh, or "" for every mesh; seconds. */
  usual: Asked;
  /** What a search takes and does, in a sentence. */
  offer: string;
  /** The search that is under way. */
  running: Asked | null;
  found: Found | null;
}

const MOST_KINDS = 40;

async function readLayouts(reply: Reply): Promise<Layouts> {
  const columns = await Columns.of(reply);
  const length = columns.lengthOf("number");
  const float = (name: string) => columns.sized(name, new Float32Array(length).fill(Number.NaN));
  const flags = (name: string) => columns.sized(name, new Uint8Array(length));
  const [kinds, meshes, compiled, ratios] = [textsOf(columns, "kind", length), textsOf(columns, "mesh", length), textsOf(columns, "compiled", length), textsOf(columns, "ratio", length)] as const;
  return {
    length,
    number: columns.ints("number", length),
    time: float("time"),
    least: float("least"),
    most: float("most"),
    arguments: float("arguments"),
    needed: float("needed"),
    state: flags("state"),
    front: flags("front"),
    kind: kinds.codes,
    kinds: kinds.strings.slice(0, MOST_KINDS),
    mesh: (row) => textIn(meshes, row),
    compiled: (row) => textIn(compiled, row),
    ratio: (row) => textIn(ratios, row),
    titles: linesOf(columns, "title"),
  };
}

async function readFound(reply: Reply): Promise<Found> {
  const { result } = reply;
  const layouts = await readLayouts(reply);
  const within = (raw: unknown) => {
    const row = raw === null || raw === undefined ? -1 : whole(raw);
    return row < layouts.length ? Math.max(-1, row) : -1;
  };
  const capacity = number(result.capacity);
  return {
    headline: text(result.headline),
    said: text(result.said),
    notes: sentences(result.notes),
    target: text(result.target),
    capacity: capacity !== null && capacity > 0 ? capacity : null,
    tried: count(result.tried),
    best: within(result.best),
    own: within(result.own),
    ownSaid: text(result.own_said),
    bests: list(result.bests, MOST_KINDS).map(within).filter((row) => row >= 0),
    hasSeconds: result.seconds === true,
    layouts,
  };
}

const readAsked = (raw: unknown): Asked => ({ mesh: text(fields(raw).mesh), budget: count(fields(raw).budget) });

export async function readSearch(reply: Reply): Promise<Search> {
  const { cannot, usual, offer, running, searched } = reply.result;
  return {
    cannot: text(cannot),
    usual: readAsked(usual),
    offer: text(offer),
    running: running ? readAsked(running) : null,
    found: searched === true ? await readFound(reply) : null,
  };
}

export interface AxisOfLayout {
  axis: string;
  size: number;
  /** The dimensions that it splits, in words. */
  splits: string;
  stores: boolean;
}

export interface Part {
  name: string;
  least: number | null;
  most: number | null;
  /** What a compile gave. */
  compiled: number | null;
}

/** All collectives of one kind over the same axes that one line makes; without a kind those that are not listed. */
export interface CollectiveOfLayout {
  kind: string;
  over: string;
  count: number;
  /** On one device, of all of them. */
  bytes: number;
  seconds: number | null;
  line: string;
  isGradient: boolean;
}

export interface About {
  number: number;
  title: string;
  kind: string;
  isOwn: boolean;
  state: number;
  decisions: string[];
  axes: AxisOfLayout[];
  parts: Part[];
  /** What the parts count. */
  counted: string;
  collectives: CollectiveOfLayout[];
  /** Whether it fits, and what that is known from. */
  fit: string;
  notes: string[];
  specs: TableReply;
  code: { form: string; text: string }[];
}

/** Paths are read whole: their ends alone are alike. */
const wrapped = (table: TableReply): TableReply => ({
  ...table,
  grid: { ...table.grid, fields: table.grid.fields.map((field) => (field.kind === "text" && field.name === "group" ? { ...field, wraps: true } : field)) },
});

const MOST_COLLECTIVES = 50;

const readCollective = (raw: unknown): CollectiveOfLayout => {
  const one = fields(raw);
  return { kind: text(one.kind), over: text(one.over), count: count(one.count), bytes: count(one.bytes), seconds: number(one.seconds), line: text(one.line), isGradient: one.gradient === true };
};

const MOST_FORMS = 12;
const MOST_AXES = 16;

export async function readAbout(reply: Reply): Promise<About> {
  const { result } = reply;
  return {
    number: whole(result.number),
    title: text(result.title),
    kind: text(result.kind),
    isOwn: result.own === true,
    state: count(result.state),
    decisions: sentences(result.decisions),
    axes: list(result.axes, MOST_AXES).map(fields).map((one) => ({ axis: text(one.axis), size: count(one.size), splits: text(one.splits), stores: one.stores === true })),
    parts: list(result.parts, MOST_AXES).map(fields).map((one) => ({ name: text(one.name), least: number(one.least), most: number(one.most), compiled: number(one.compiled) })),
    counted: text(result.counted),
    collectives: list(result.collectives, MOST_COLLECTIVES).map(readCollective),
    fit: text(result.fit),
    notes: sentences(result.notes),
    specs: wrapped(await readTable(partOf(reply, result.specs), { group: 150, spec: 110 })),
    code: list(result.code, MOST_FORMS).map(fields).map((one) => ({ form: text(one.form), text: typeof one.text === "string" ? one.text.slice(0, LONGEST_CODE) : "" })),
  };
}

const LONGEST_CODE = 40_000;
