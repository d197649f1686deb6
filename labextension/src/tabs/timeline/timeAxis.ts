/** Where the ticks of the time axis stand, and how times are written beside them. */

import { type Span, lengthOf, roundStep, ticks } from "../../parts/axis";

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

const unitOf = (seconds: number): [number, string] => UNITS.find(([unit]) => Math.abs(seconds) >= unit * 0.9999) ?? (UNITS[3] as [number, string]);

/** A time with as many digits as steps of a length need: 1.25 ms. */
export function written(seconds: number, step: number): string {
  const [unit, name] = unitOf(seconds === 0 ? step : seconds);
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(seconds / unit).toFixed(Math.min(12, digits))} ${name}`;
}

export function axisOf(span: Span, width: number): Axis {
  const step = roundStep((lengthOf(span) * LEAST_PX) / Math.max(width, 1));
  const places = ticks(span, step);
  const coarse = 10 ** Math.floor(Math.log10(step) + 1e-9) * 1000;
  const isFar = places.some((at) => Math.abs(at) > (MOST_STEPS + 0.5) * step);
  const base = isFar ? Math.floor(span.from / coarse) * coarse : 0;
  const label = (at: number) => (isFar ? `+${written(Math.max(0, at - base), step)}` : written(at, step));
  return { ticks: places.map((at) => ({ at, label: label(at) })), base: isFar ? written(base, coarse) : "" };
}

/** A moment, as precisely as a view of this length can show it. */
export const moment = (seconds: number, span: Span): string => written(seconds, Math.max(1e-12, 10 ** Math.floor(Math.log10(lengthOf(span) / 1000))));
