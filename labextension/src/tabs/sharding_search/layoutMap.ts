/** The map of the layouts: where each lies by time and memory, which is under the pointer, and the way along the front. */

import { type Span, lengthOf, roundStep, shareOf, ticks } from "../../parts/axis";
import { type Found, type Layouts, TOO_LARGE } from "./read";

export interface Scale {
  span: Span;
  /** Logarithmic where the values reach over more than a power of ten; the span is then of powers. */
  isLog: boolean;
}

export interface MapAxes {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Scale;
  y: Scale;
}

const MARGIN = { left: 66, right: 18, top: 16, bottom: 40 };
const LEAST_RATIO = 10;
const ROOM = 0.06;
/** A capacity that is further above all layouts is told in words. */
const NEAR = 2.5;

/** The memory at which a layout stands: that of its arguments. */
export const heightOf = (layouts: Layouts, row: number): number => layouts.arguments[row] ?? Number.NaN;

export const isPlaced = (layouts: Layouts, row: number): boolean => (layouts.time[row] ?? 0) > 0 && heightOf(layouts, row) > 0;

function scaleOf(values: Iterable<number>): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!high) return { span: { from: 0, to: 1 }, isLog: false };
  const isLog = high > LEAST_RATIO * low;
  const [from, to] = isLog ? [Math.log10(low), Math.log10(high)] : [low, high];
  const room = ROOM * (to - from) || (isLog ? 0.1 : 0.1 * high);
  return { span: { from: isLog ? from - room : Math.max(0, from - room), to: to + room }, isLog };
}

/** Whether the capacity is drawn as a line. */
export function isCapacityNear({ layouts, capacity }: Found): boolean {
  let most = 0;
  for (let row = 0; row < layouts.length; row++) most = Math.max(most, heightOf(layouts, row) || 0, layouts.needed[row] || 0);
  return capacity !== null && capacity <= NEAR * most;
}

const known = new WeakMap<Found, Pick<MapAxes, "x" | "y">>();

function scalesOf(found: Found): Pick<MapAxes, "x" | "y"> {
  const before = known.get(found);
  if (before) return before;
  const { layouts, capacity } = found;
  const heights = [...layouts.arguments, ...layouts.needed, ...(isCapacityNear(found) ? [capacity as number] : [])];
  const scales = { x: scaleOf(layouts.time), y: scaleOf(heights) };
  known.set(found, scales);
  return scales;
}

export function axesOf(found: Found, width: number, height: number): MapAxes {
  return {
    left: MARGIN.left,
    right: Math.max(MARGIN.left + 1, width - MARGIN.right),
    top: MARGIN.top,
    bottom: Math.max(MARGIN.top + 1, height - MARGIN.bottom),
    ...scalesOf(found),
  };
}

const share = ({ span, isLog }: Scale, value: number) => shareOf(span, isLog ? Math.log10(value) : value);

export const toX = (axes: MapAxes, time: number) => axes.left + share(axes.x, time) * (axes.right - axes.left);
export const toY = (axes: MapAxes, bytes: number) => axes.bottom - share(axes.y, bytes) * (axes.bottom - axes.top);

/** Round values on a scale, at most so many. */
export function marksOf({ span, isLog }: Scale, most: number): number[] {
  if (!isLog) return ticks(span, roundStep(lengthOf(span) / Math.max(1, most)));
  const of = (factors: number[]) =>
    ticks({ from: Math.floor(span.from), to: Math.ceil(span.to) }, 1)
      .flatMap((power) => factors.map((factor) => factor * 10 ** power))
      .filter((value) => Math.log10(value) >= span.from && Math.log10(value) <= span.to);
  return [[1, 2, 5], [1, 3], [1]].map(of).find((marks) => marks.length <= most) ?? ticks(span, Math.ceil(lengthOf(span) / Math.max(1, most))).map((power) => 10 ** power);
}

/** Pixels of each row; NaN where it has no place. */
export interface Places {
  x: Float32Array;
  y: Float32Array;
}

export function placesOf(layouts: Layouts, axes: MapAxes): Places {
  const places = { x: new Float32Array(layouts.length).fill(Number.NaN), y: new Float32Array(layouts.length).fill(Number.NaN) };
  for (let row = 0; row < layouts.length; row++) {
    if (!isPlaced(layouts, row)) continue;
    places.x[row] = toX(axes, layouts.time[row] as number);
    places.y[row] = toY(axes, heightOf(layouts, row));
  }
  return places;
}

const REACH_PX = 12;

/** The shown row nearest to a place, -1 where none is near; of two at one place the faster. */
export function rowAt(places: Places, isShown: (row: number) => boolean, x: number, y: number): number {
  let [nearest, best] = [-1, REACH_PX ** 2];
  for (let row = 0; row < places.x.length; row++) {
    const away = ((places.x[row] as number) - x) ** 2 + ((places.y[row] as number) - y) ** 2;
    if (away < best && isShown(row)) [nearest, best] = [row, away];
  }
  return nearest;
}

/** The rows of the front, the fastest first. */
export const frontOf = (layouts: Layouts): number[] => [...layouts.front.keys()].filter((row) => layouts.front[row] && isPlaced(layouts, row));

/** From a row so many steps along the front; from one beside it, to the nearest in time. */
export function along(layouts: Layouts, row: number, by: number): number {
  const front = frontOf(layouts);
  if (!front.length) return row;
  const at = front.indexOf(row);
  if (at >= 0) return front[Math.max(0, Math.min(front.length - 1, at + by))] as number;
  if (row < 0) return front[by === Infinity ? front.length - 1 : 0] as number;
  const away = (one: number) => Math.abs((layouts.time[one] as number) - (layouts.time[row] as number));
  return front.reduce((nearest, one) => (away(one) < away(nearest) ? one : nearest));
}

/** Kinds beyond these share a look. */
export const LOOKS = 11;

/** In which order kinds have their colours and shapes: those with the fastest layout first. */
export function looksOf({ layouts, bests }: Found): Int32Array {
  const looks = new Int32Array(layouts.kinds.length).fill(LOOKS);
  const order = [...new Set(bests.map((row) => layouts.kind[row] as number))].filter((kind) => kind >= 0);
  order.forEach((kind, at) => {
    if (kind < looks.length) looks[kind] = Math.min(at, LOOKS);
  });
  return looks;
}

const CELL_PX = 2;

/**
 * What is worth drawing of the shown rows, the slowest first: where many of one look and state share two pixels, one is enough.
 */
export function drawnRows(found: Found, places: Places, looks: Int32Array, isShown: (row: number) => boolean, width: number): number[] {
  const { layouts } = found;
  const taken = new Set<number>();
  const rows: number[] = [];
  const columns = Math.ceil(width / CELL_PX) + 1;
  for (let row = 0; row < layouts.length; row++) {
    const [x, y] = [places.x[row] as number, places.y[row] as number];
    if (Number.isNaN(x) || !isShown(row)) continue;
    const cell = Math.floor(y / CELL_PX) * columns + Math.floor(x / CELL_PX);
    const key = (cell * (LOOKS + 1) + (looks[layouts.kind[row] as number] ?? LOOKS)) * (TOO_LARGE + 2) + (layouts.state[row] as number);
    if (taken.has(key)) continue;
    taken.add(key);
    rows.push(row);
  }
  return rows.reverse();
}
