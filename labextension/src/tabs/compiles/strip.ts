/** The kernel's life in compiles: where each stands on the strip. Time in which nothing compiles is squeezed. */

import { textIn } from "../../wire/texts";
import { type Causes, type Compiles, FAILED, MENDABLE, MINE } from "./read";

/** Of the strip, for all times without a compile together; and of the time that compiles took, for one of them. */
const IDLE_SHARE = 0.4;
const LONGEST_IDLE = 0.05;
export const MOST_LANES = 3;
const LEAST_PX = 2;
/** Pixels beside a bar that still count as on it. */
const NEAR_PX = 5;

/** What a bar stands for. What was loaded from the persistent cache was not compiled, avoidable or not. */
export type Kind = "failed" | "mendable" | "loaded" | "compiled" | "ours";

export interface Bar {
  row: number;
  /** Of the strip's width. */
  from: number;
  to: number;
  lane: number;
  kind: Kind;
}

/** Where an idle time was squeezed, and how long it was. */
interface Pause {
  at: number;
  seconds: number;
}

export interface CellMark {
  at: number;
  label: string;
}

export interface Strip {
  bars: Bar[];
  pauses: Pause[];
  cells: CellMark[];
  lanes: number;
}

interface Span {
  from: number;
  to: number;
}

/** The times in which something compiled, which are apart. */
function busySpans(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Seconds to places from 0 to 1, with idle times cut; and these. */
function squeezed(busy: Span[]): { place: (time: number) => number; pauses: Pause[] } {
  const total = busy.reduce((sum, { from, to }) => sum + to - from, 0) || 1;
  const longest = Math.min(LONGEST_IDLE * total, (IDLE_SHARE * total) / Math.max(1, busy.length - 1));
  const starts: number[] = [];
  let at = 0;
  const cuts: Pause[] = [];
  busy.forEach(({ from, to }, i) => {
    const idle = i ? from - (busy[i - 1] as Span).to : 0;
    const shown = Math.min(idle, longest);
    if (idle > shown) cuts.push({ at: at + shown / 2, seconds: idle });
    starts.push(at + shown);
    at += shown + to - from;
  });
  const whole = at || 1;
  const place = (time: number): number => {
    let [low, high] = [0, busy.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((busy[middle] as Span).from <= time) low = middle;
      else high = middle - 1;
    }
    return ((starts[low] ?? 0) + time - (busy[low]?.from ?? 0)) / whole;
  };
  return { place, pauses: cuts.map((cut) => ({ ...cut, at: cut.at / whole })) };
}

function kindOf(compiles: Compiles, causes: Causes | null, causeRow: Int32Array, row: number): Kind {
  const flags = compiles.flags[row] ?? 0;
  if (!(flags & MINE)) return "ours";
  if (flags & FAILED) return "failed";
  if (textIn(compiles.outcome, row) === "loaded") return "loaded";
  return ((causes?.flags[causeRow[row] ?? -1] ?? 0) & MENDABLE) > 0 ? "mendable" : "compiled";
}

/** The first lane that is free; what runs at the same time as more others than there are lanes shares the last. */
function laneOf(ends: number[], from: number): number {
  const free = ends.findIndex((end) => end <= from);
  return free >= 0 ? free : Math.min(ends.length, MOST_LANES - 1);
}

export function stripOf(compiles: Compiles, causes: Causes | null, causeRow: Int32Array, rows: number[]): Strip {
  const span = (row: number): Span => {
    const from = compiles.began[row] ?? 0;
    return { from, to: from + Math.max(1e-6, compiles.span[row] ?? 0) };
  };
  const { place, pauses } = squeezed(busySpans(rows.map(span)));
  const ends: number[] = [];
  const cells: CellMark[] = [];
  const bars = rows.map((row): Bar => {
    const { from, to } = span(row);
    const lane = laneOf(ends, from);
    ends[lane] = Math.max(ends[lane] ?? 0, to);
    const label = textIn(compiles.cell, row);
    const at = place(from);
    if (label && label !== cells.at(-1)?.label) cells.push({ at, label });
    return { row, from: at, to: place(to - 1e-9), lane, kind: kindOf(compiles, causes, causeRow, row) };
  });
  return { bars, pauses, cells, lanes: Math.max(1, ends.length) };
}

/** Of a bar: where it is drawn, in pixels. */
export const left = (bar: Bar, width: number): number => Math.min(bar.from * width, width - LEAST_PX);
export const extent = (bar: Bar, width: number): number => Math.max(LEAST_PX, (bar.to - bar.from) * width);

/** The bar at a place of the strip, or the next one beside it; null for none. */
export function barAt({ bars }: Strip, x: number, lane: number, width: number): Bar | null {
  let best: Bar | null = null;
  let least = NEAR_PX + 1;
  for (const bar of bars) {
    const from = left(bar, width);
    const beside = Math.max(0, from - x, x - from - extent(bar, width));
    const far = beside + (bar.lane === lane ? 0 : NEAR_PX / 2);
    if (beside <= NEAR_PX && far < least) [best, least] = [bar, far];
  }
  return best;
}
