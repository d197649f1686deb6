/** Where the ticks of the time axis stand, and how times are written beside them. */

import { type Span, lengthOf } from "./viewport";

const UNITS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];
const LEAST_PX = 84;
/** Labels with more digits than these are written from a nearby time on, which stands once at the left. */
const MOST_STEPS = 9999;

export interface Axis {
  ticks: { at: number; label: string }[];
  /** What the labels are counted from, "" for 0. */
  base: string;
}

/** The least round step that leaves room for labels: 1, 2 or 5 times a power of ten. */
export function stepOf(span: Span, width: number): number {
  const least = (lengthOf(span) * LEAST_PX) / Math.max(width, 1);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

const unitOf = (seconds: number): [number, string] => UNITS.find(([unit]) => Math.abs(seconds) >= unit * 0.9999) ?? (UNITS[3] as [number, string]);

/** A time with as many digits as steps of a length need: 1.25 ms. */
export function written(seconds: number, step: number): string {
  const [unit, name] = unitOf(seconds === 0 ? step : seconds);
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(seconds / unit).toFixed(Math.min(12, digits))} ${name}`;
}

export function axisOf(span: Span, width: number): Axis {
  const step = stepOf(span, width);
  const first = Math.ceil(span.from / step);
  const last = Math.floor(span.to / step);
  const coarse = 10 ** Math.floor(Math.log10(step) + 1e-9) * 1000;
  const isFar = Math.max(Math.abs(first), Math.abs(last)) > MOST_STEPS;
  const base = isFar ? Math.floor(span.from / coarse) * coarse : 0;
  const ticks = [];
  for (let n = first; n <= last && ticks.length < 200; n++) {
    const at = n * step;
    const label = isFar ? `+${written(Math.max(0, at - base), step)}` : written(at, step);
    ticks.push({ at, label });
  }
  return { ticks, base: isFar ? written(base, coarse) : "" };
}

/** A moment, as precisely as a view of this length can show it. */
export const moment = (seconds: number, span: Span): string => written(seconds, Math.max(1e-12, 10 ** Math.floor(Math.log10(lengthOf(span) / 1000))));
