/** Instructions under the roofline of a device: read, placed on two logarithmic axes, found by the pointer. */

import { fields, number, sentences, text } from "../../wire/check";
import { type Span, lengthOf, shareOf, ticks } from "../../parts/axis";
import { Columns } from "../../wire/columns";
import { linesOf, textIn, textsOf } from "../../wire/texts";
import type { Reply } from "../../wire/source";

export interface Roofline {
  device: string;
  /** FLOP/s by unit, such as "bf16 matrix x6", the lowest first. */
  peaks: [dtype: string, peak: number][];
  /** Bytes a second; null where it is not known. */
  bandwidth: number | null;
  /** That of the caches, which bounds what fits in them; null where it is not known, or no higher. */
  caches: number | null;
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
  const columns = await Columns.of(reply);
  const length = columns.lengthOf("row");
  const coded = (name: string) => {
    const texts = textsOf(columns, name, length);
    return (i: number) => textIn(texts, i);
  };
  const bandwidth = number(reply.result.bandwidth);
  const caches = number(reply.result.caches);
  const peaks = Object.entries(fields(reply.result.peaks)).slice(0, 40);
  return {
    device: text(reply.result.device),
    peaks: peaks
      .map(([dtype, peak]): [string, number] => [text(dtype), number(peak) ?? 0])
      .filter(([, peak]) => peak > 0)
      .sort((a, b) => a[1] - b[1]),
    bandwidth: bandwidth !== null && bandwidth > 0 ? bandwidth : null,
    caches: caches !== null && caches > (bandwidth ?? Infinity) ? caches : null,
    notes: sentences(reply.result.notes),
    length,
    names: linesOf(columns, "instruction"),
    intensity: columns.floats("intensity", length),
    attainable: columns.floats("attainable", length),
    achieved: columns.floats("achieved", length),
    flops: columns.floats("flops", length),
    bytes: columns.floats("bytes", length),
    near: columns.floats("near", length),
    hidden: columns.floats("hidden", length),
    seconds: columns.floats("seconds", length),
    row: columns.ints("row", length),
    bound: coded("bound"),
    unit: coded("unit"),
    line: coded("line"),
  };
}

/** Where the chart's axes lie on the canvas; the spans are of powers of ten. */
export interface Axes {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Span;
  y: Span;
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

function range(values: number[]): Span {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    low = Math.min(low, Math.log10(value));
    high = Math.max(high, Math.log10(value));
  }
  return high >= low ? { from: low - 0.35, to: high + 0.35 } : { from: -1, to: 2 };
}

/** What is left out at either end of an axis: together under this share of all bytes. */
const NEGLIGIBLE = 0.005;

/** The values without the outermost that together move next to nothing: the decades between them matter. */
function weighty(values: Float64Array, weights: Float64Array): number[] {
  const placed = [...values.keys()].filter((i) => (values[i] ?? 0) > 0 && Number.isFinite(values[i]));
  placed.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const most = NEGLIGIBLE * placed.reduce((sum, i) => sum + (weights[i] ?? 0), 0);
  const ends = [placed, [...placed].reverse()].map((order) => {
    let left = most;
    return order.find((i) => (left -= weights[i] ?? 0) < 0) ?? order[0];
  });
  return ends.flatMap((i) => (i === undefined ? [] : [values[i] ?? 0]));
}

const known = new WeakMap<Roofline, Pick<Axes, "x" | "y">>();

/** The decades that matter; what lies beyond stands at the edge. */
function rangesOf(roof: Roofline): Pick<Axes, "x" | "y"> {
  const found = known.get(roof);
  if (found) return found;
  const peaks = roof.peaks.map(([, peak]) => peak);
  const ridges = roof.bandwidth ? peaks.map((peak) => peak / (roof.bandwidth as number)) : [];
  const ranges = {
    x: range([...weighty(roof.intensity, roof.bytes), ...ridges, ...ridges.map((ridge) => ridge * 3)]),
    y: range([...weighty(roof.attainable, roof.bytes), ...weighty(roof.achieved, roof.bytes), ...peaks]),
  };
  known.set(roof, ranges);
  return ranges;
}

export function axesOf(roof: Roofline, width: number, height: number): Axes {
  return {
    left: MARGIN.left,
    right: Math.max(MARGIN.left + 1, width - MARGIN.right),
    top: MARGIN.top,
    bottom: Math.max(MARGIN.top + 1, height - MARGIN.bottom),
    ...rangesOf(roof),
  };
}

export const toX = (axes: Axes, value: number) => axes.left + shareOf(axes.x, Math.log10(value)) * (axes.right - axes.left);
export const toY = (axes: Axes, value: number) => axes.bottom - shareOf(axes.y, Math.log10(value)) * (axes.bottom - axes.top);

/** Where a point is drawn: at the edge where it lies beyond. */
export function placeAt(axes: Axes, intensity: number, height: number): [x: number, y: number] {
  const within = (value: number, from: number, to: number) => Math.min(Math.max(value, from), to);
  return [within(toX(axes, intensity), axes.left, axes.right), within(toY(axes, height), axes.top, axes.bottom)];
}

/** How many points lie beyond each edge that has any. */
export function beyond(roof: Roofline, axes: Axes): { left: number; right: number; below: number } {
  const count = { left: 0, right: 0, below: 0 };
  for (let i = 0; i < roof.length; i++) {
    const [x, y] = [toX(axes, roof.intensity[i] as number), toY(axes, heightOf(roof, i))];
    if (x < axes.left) count.left += 1;
    else if (x > axes.right) count.right += 1;
    else if (y > axes.bottom) count.below += 1;
  }
  return count;
}

/** Heights on the canvas, the lowest first, moved until each is `gap` above the one before and none lies under `floor`. */
export function apart(heights: number[], gap: number, floor: number): number[] {
  const down = heights.reduceRight<number[]>((moved, y) => [Math.max(y, (moved[0] ?? -Infinity) + gap), ...moved], []);
  return down.map((y, i) => Math.min(y, floor - i * gap));
}

/** Every power of ten in a range, or every second or further one where there are many. */
export function decades(span: Span, most: number): number[] {
  return ticks(span, Math.max(1, Math.ceil(lengthOf(span) / most))).map((exponent) => 10 ** exponent);
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
    const [left, top] = placeAt(axes, roof.intensity[i] as number, heightOf(roof, i));
    const away = Math.hypot(left - x, top - y);
    const size = radius(roof.bytes[i] as number, most);
    if (away > Math.max(size, REACH_PX)) continue;
    const rank = away <= size ? size : size + away * 10;
    if (rank < best) [nearest, best] = [i, rank];
  }
  return nearest;
}
