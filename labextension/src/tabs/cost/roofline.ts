/** Instructions under the roofline of a device: read, placed on two logarithmic axes, found by the pointer. */

import { fields, number, sentences, text } from "../../wire/check";
import { Table } from "./read";
import type { Reply } from "../../wire/source";

export interface Roofline {
  device: string;
  /** FLOP/s by unit, such as "bf16 matrix x6", the lowest first. */
  peaks: [dtype: string, peak: number][];
  /** Bytes a second; null where it is not known. */
  bandwidth: number | null;
  notes: string[];
  length: number;
  names: string[];
  intensity: Float64Array;
  attainable: Float64Array;
  /** FLOP/s that a profile measured; NaN where there is none. */
  achieved: Float64Array;
  flops: Float64Array;
  bytes: Float64Array;
  /** Of the bytes, those in memory on the chip. */
  near: Float64Array;
  /** Of the seconds, what other work hides of a collective. */
  hidden: Float64Array;
  seconds: Float64Array;
  row: Int32Array;
  bound: (i: number) => string;
  unit: (i: number) => string;
  line: (i: number) => string;
}

export async function readRoofline(reply: Reply): Promise<Roofline> {
  const table = await Table.read(reply);
  const coded = (name: string) => {
    const [codes, strings] = [table.ints(name), table.texts(name)];
    return (i: number) => strings[codes[i] ?? -1] ?? "";
  };
  const bandwidth = number(reply.result.bandwidth);
  const peaks = Object.entries(fields(reply.result.peaks)).slice(0, 40);
  return {
    device: text(reply.result.device),
    peaks: peaks
      .map(([dtype, peak]): [string, number] => [text(dtype), number(peak) ?? 0])
      .filter(([, peak]) => peak > 0)
      .sort((a, b) => a[1] - b[1]),
    bandwidth: bandwidth !== null && bandwidth > 0 ? bandwidth : null,
    notes: sentences(reply.result.notes),
    length: table.length,
    names: table.names,
    intensity: table.floats("intensity"),
    attainable: table.floats("attainable"),
    achieved: table.floats("achieved"),
    flops: table.floats("flops"),
    bytes: table.floats("bytes"),
    near: table.floats("near"),
    hidden: table.floats("hidden"),
    seconds: table.floats("seconds"),
    row: table.ints("row"),
    bound: coded("bound"),
    unit: coded("unit"),
    line: coded("line"),
  };
}

/** Where the chart's axes lie on the canvas; the ranges are powers of ten. */
export interface Axes {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: [from: number, to: number];
  y: [from: number, to: number];
}

const MARGIN = { left: 88, right: 16, top: 12, bottom: 36 };
const LEAST_PX = 3;
const MOST_PX = 16;

/** Dtypes of one peak share a line. */
export function ceilings({ peaks }: Roofline): { names: string; peak: number }[] {
  const tops: { names: string; peak: number }[] = [];
  for (const [dtype, peak] of peaks) {
    const last = tops.at(-1);
    if (last && last.peak === peak) last.names += `, ${dtype}`;
    else tops.push({ names: dtype, peak });
  }
  return tops;
}

function range(values: number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    low = Math.min(low, Math.log10(value));
    high = Math.max(high, Math.log10(value));
  }
  return high >= low ? [low - 0.35, high + 0.35] : [-1, 2];
}

export function axesOf(roof: Roofline, width: number, height: number): Axes {
  const peaks = roof.peaks.map(([, peak]) => peak);
  const ridges = roof.bandwidth ? peaks.map((peak) => peak / (roof.bandwidth as number)) : [];
  return {
    left: MARGIN.left,
    right: Math.max(MARGIN.left + 1, width - MARGIN.right),
    top: MARGIN.top,
    bottom: Math.max(MARGIN.top + 1, height - MARGIN.bottom),
    x: range([...roof.intensity, ...ridges, ...ridges.map((ridge) => ridge * 3)]),
    y: range([...roof.attainable, ...roof.achieved, ...peaks]),
  };
}

const along = (value: number, [from, to]: [number, number]) => (Math.log10(value) - from) / (to - from);
export const toX = (axes: Axes, value: number) => axes.left + along(value, axes.x) * (axes.right - axes.left);
export const toY = (axes: Axes, value: number) => axes.bottom - along(value, axes.y) * (axes.bottom - axes.top);

/** Every power of ten in a range, or every second or further one where there are many. */
export function decades([from, to]: [number, number], most: number): number[] {
  const step = Math.max(1, Math.ceil((to - from) / most));
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => 10 ** (first + i * step));
}

/** Its area grows with the bytes. */
export function radius(bytes: number, most: number): number {
  return LEAST_PX + (MOST_PX - LEAST_PX) * Math.sqrt(most > 0 ? bytes / most : 0);
}

export const mostBytes = (roof: Roofline) => roof.bytes.reduce((most, bytes) => Math.max(most, bytes), 0);

const REACH_PX = 12;

/** The FLOP/s at which a point stands: what is attainable, else what was measured. */
export function heightOf(roof: Roofline, i: number): number {
  const attainable = roof.attainable[i] ?? Number.NaN;
  return Number.isFinite(attainable) ? attainable : (roof.achieved[i] ?? Number.NaN);
}

/** The point at a place of the canvas, the smallest of those that cover it; -1 for none. */
export function pointAt(roof: Roofline, axes: Axes, x: number, y: number, most = mostBytes(roof)): number {
  let [nearest, best] = [-1, Number.POSITIVE_INFINITY];
  for (let i = 0; i < roof.length; i++) {
    const away = Math.hypot(toX(axes, roof.intensity[i] as number) - x, toY(axes, heightOf(roof, i)) - y);
    const size = radius(roof.bytes[i] as number, most);
    if (away > Math.max(size, REACH_PX)) continue;
    const rank = away <= size ? size : size + away * 10;
    if (rank < best) [nearest, best] = [i, rank];
  }
  return nearest;
}
