/** A program's memory as the kernel tells it, checked and capped, and what a picture of it needs. */

import { count, entries, fields, list, sentences, text, texts } from "../../wire/check";
import { scaled } from "../../wire/figures";
import { Columns } from "../../wire/columns";
import { linesOf, partOf, textsOf } from "../../wire/texts";
import { type Field, type TableReply, readTable } from "../../wire/tables";
import type { Reply } from "../../wire/source";
import { type Span, lengthOf } from "../../parts/axis";

export const KINDS = ["argument", "output", "constant", "temporary", "residual"];
const SENTENCES = ["how", "note"];
/** Of shapes, as much as tells them apart. */
const WIDTHS = { shape: 106 };
const MOST_NOTES = 1000;
const MOST_TABLES = 20;
const MOST_SPACES = 16;
const MOST_NAMED = 8;

export interface Space {
  color: number;
  name: string;
  held: number;
  reserved: number;
  position: number;
  peak: number;
  /** Positions at which the live bytes change, and those bytes. */
  at: Int32Array;
  live: Float64Array;
}

export interface Table extends Pick<TableReply, "grid"> {
  /** For each row its row of the HLO document, -1 for none. */
  row: Int32Array;
  /** For each row its life, as positions of the schedule; -1 where it has none. */
  from: Int32Array;
  to: Int32Array;
  total: number;
  notes: string[];
}

/** One entry a buffer. */
export interface Buffers {
  start: Int32Array;
  end: Int32Array;
  height: Float64Array;
  size: Float64Array;
  space: Int32Array;
  kind: Uint8Array;
  row: Int32Array;
  /** Of `lines`, the one that made it; -1 for none. */
  line: Int32Array;
  names: string[];
  lines: string[];
}

export interface Memory {
  /** "yes", "only with a setting", "no" or "unknown". */
  answer: string;
  text: string;
  room: number | null;
  spaces: Space[];
  length: number;
  buffers: Buffers;
  /** How many buffers there are; fewer may be drawn. */
  total: number;
  /** Of each position: the HLO row of its instruction, and its name; "" where names are left out. */
  order: Int32Array;
  steps: string[];
  notes: string[];
  tables: Record<string, Table>;
  /** The first arguments that are suggested to be donated, which was not compiled yet. */
  donate: string[];
}


export const EMPTY: Table = { grid: { length: 0, fields: [] }, row: new Int32Array(0), from: new Int32Array(0), to: new Int32Array(0), total: 0, notes: [] };

/** A table whose figures the kernel has written; sentences may take several lines. */
export async function readWritten(reply: Reply): Promise<Table> {
  const { grid, row, columns, result } = await readTable(reply, WIDTHS);
  const shown = grid.fields.map((field): Field => (field.kind === "text" ? { ...field, isEmptyKnown: true, wraps: SENTENCES.includes(field.name) } : field));
  return { grid: { ...grid, fields: shown }, row, from: columns.ints("from", grid.length), to: columns.ints("to", grid.length), total: count(result.total), notes: sentences(result.notes, MOST_NOTES) };
}

function readSpace(raw: unknown, columns: Columns): Space {
  const space = fields(raw);
  const color = count(space.color);
  const at = columns.ints(`at ${color}`);
  return {
    color,
    name: text(space.name),
    held: count(space.held),
    reserved: count(space.reserved),
    position: count(space.position),
    peak: count(space.peak),
    at,
    live: columns.floats(`live ${color}`, at.length, 0),
  };
}

export async function readMemory(reply: Reply): Promise<Memory> {
  const { result } = reply;
  const columns = await Columns.of(reply);
  const fit = fields(result.fit);
  const start = columns.ints("start");
  const n = start.length;
  const order = columns.ints("order");
  const lines = textsOf(columns, "line", n);
  const tables = entries(result.tables, MOST_TABLES).map(async ([name, raw]) => [name.slice(0, 40), await readWritten(partOf(reply, raw))]);
  return {
    answer: text(fit.answer),
    text: text(fit.text),
    room: fit.room === null ? null : count(fit.room) || null,
    spaces: list(result.spaces, MOST_SPACES).map((raw) => readSpace(raw, columns)),
    length: order.length,
    buffers: {
      start,
      end: columns.ints("end", n),
      height: columns.floats("height", n, 0),
      size: columns.floats("size", n, 0),
      space: columns.ints("space", n),
      kind: columns.sized("kind", new Uint8Array(n)),
      row: columns.ints("row", n),
      line: lines.codes,
      names: linesOf(columns, "names"),
      lines: lines.strings,
    },
    total: count(result.buffers),
    order,
    steps: linesOf(columns, "steps"),
    notes: sentences(result.notes, MOST_NOTES),
    donate: texts(result.donate, MOST_NAMED),
    tables: Object.fromEntries(await Promise.all(tables)),
  };
}

/** What a picture shows: positions [from, to) of the schedule, and bytes up to `top`. */
export interface Frame extends Span {
  top: number;
}

/** Nothing nearer than this to what is reserved is drawn of the device's memory. */
const FAR = 3;

/** The frame of a whole program: the device's memory is in it unless it is far above. */
export function whole(memory: Memory, space: Space): Frame {
  const room = space.color === 0 && memory.room !== null && memory.room <= FAR * space.reserved ? memory.room : 0;
  return { from: 0, to: Math.max(1, memory.length), top: Math.max(1, space.reserved, room) * 1.04 };
}

/** The source line that made a buffer, "" where none is known. */
export const lineOf = ({ buffers }: Memory, buffer: number): string => buffers.lines[buffers.line[buffer] ?? -1] ?? "";

/** Live bytes at a position. */
export function liveAt(space: Space, position: number): number {
  let low = 0;
  let high = space.at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((space.at[middle] as number) <= position) low = middle + 1;
    else high = middle;
  }
  return low ? (space.live[low - 1] as number) : 0;
}

/** The buffer that lies at a position and a height, -1 for none. */
export function bufferAt(memory: Memory, space: Space, position: number, height: number): number {
  const { start, end, height: base, size, space: spaces } = memory.buffers;
  const at = Math.floor(position);
  for (let i = start.length - 1; i >= 0; i--) {
    const low = base[i] as number;
    if (spaces[i] !== space.color || height < low || height >= low + (size[i] as number)) continue;
    if ((start[i] as number) <= at && at <= (end[i] as number)) return i;
  }
  return -1;
}

export const bytes = (value: number): string => scaled(value, "B");

/** Colours of kinds as 0xAABBGGRR, each in three shades so that neighbours differ. */
export type Palette = number[][];

/**
 * All buffers of one memory as pixels, row by row. A buffer less than a pixel wide or high takes one; each wider and
 * higher than three leaves a line free, so that neighbours stay apart.
 */
export function paint(pixels: Uint32Array, width: number, height: number, memory: Memory, space: Space, frame: Frame, palette: Palette): void {
  const { start, end, height: base, size, space: spaces, kind } = memory.buffers;
  const x = width / lengthOf(frame);
  const y = height / frame.top;
  for (let i = 0; i < start.length; i++) {
    if (spaces[i] !== space.color) continue;
    const left = Math.max(0, Math.floor(((start[i] as number) - frame.from) * x));
    let right = Math.min(width, Math.ceil(((end[i] as number) + 1 - frame.from) * x));
    const bottom = Math.min(height, height - Math.floor((base[i] as number) * y));
    let top = Math.max(0, Math.floor(height - ((base[i] as number) + (size[i] as number)) * y));
    if (right <= left || !(size[i] as number)) continue;
    if (right - left > 3) right--;
    if (bottom - top > 3) top++;
    const shades = palette[kind[i] as number] ?? palette[3];
    const color = shades?.[i % 3] ?? 0xff808080;
    for (let row = Math.min(top, bottom - 1); row < bottom; row++) {
      if (row >= 0) pixels.fill(color, row * width + left, row * width + right);
    }
  }
}

/** The curve's highest point in each column of pixels, as live bytes. */
export function outline(space: Space, width: number, frame: Frame): Float64Array {
  const highest = new Float64Array(width);
  const step = lengthOf(frame) / width;
  for (let column = 0; column < width; column++) {
    const first = frame.from + column * step;
    highest[column] = liveAt(space, Math.floor(first));
  }
  for (let i = 0; i < space.at.length; i++) {
    const column = Math.floor(((space.at[i] as number) - frame.from) / step);
    if (column >= 0 && column < width) highest[column] = Math.max(highest[column] as number, space.live[i] as number);
  }
  return highest;
}
