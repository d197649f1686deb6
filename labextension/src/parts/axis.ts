/** An axis of a chart: where a value lies on it, where its ticks are, and what part of it is on screen. */

export interface Span {
  from: number;
  to: number;
}

/** All that an axis shows. */
export interface Reach extends Span {
  /** The shortest span that fills the view. */
  least: number;
  /** What is free at either end when all is shown, as a part of it; and how far beyond one may move, as a part of the view. */
  room: number;
  margin: number;
}

export const lengthOf = (span: Span): number => span.to - span.from;

/** How far along the span a value is: 0 at its beginning, 1 at its end. */
export const shareOf = (span: Span, value: number): number => (value - span.from) / lengthOf(span);

export const valueAt = (span: Span, share: number): number => span.from + share * lengthOf(span);

/** The least round step that is not below this: 1, 2 or 5 times a power of ten. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** The multiples of a step in a span. */
export function ticks(span: Span, step: number): number[] {
  const first = Math.ceil(span.from / step);
  const count = Math.floor(span.to / step) - first + 1;
  return Array.from({ length: count > 0 ? Math.min(count, 200) : 0 }, (_, i) => (first + i) * step);
}

/** All of it, with a little room. */
export function fitted(all: Reach): Span {
  const room = Math.max(lengthOf(all), all.least) * all.room;
  return { from: all.from - room, to: all.to + room };
}

/** Kept as near to all there is as its length allows. */
export function kept(span: Span, all: Reach): Span {
  const most = lengthOf(fitted(all));
  const length = Math.min(Math.max(lengthOf(span), all.least), most);
  if (length >= most) return fitted(all);
  const room = length * all.margin;
  const middle = (span.from + span.to) / 2;
  const from = Math.max(all.from - room, Math.min(all.to + room - length, middle - length / 2));
  return { from, to: from + length };
}

/** The same value stays where it is on screen while what is around it grows or shrinks by a factor. */
export function zoomed(span: Span, factor: number, around: number, all: Reach): Span {
  const length = Math.min(Math.max(lengthOf(span) * factor, all.least), lengthOf(fitted(all)));
  const share = (around - span.from) / Math.max(lengthOf(span), Number.MIN_VALUE);
  const from = around - share * length;
  return kept({ from, to: from + length }, all);
}

export function moved(span: Span, by: number, all: Reach): Span {
  if (by === -Infinity) return kept({ from: all.from, to: all.from + lengthOf(span) }, all);
  if (by === Infinity) return kept({ from: all.to - lengthOf(span), to: all.to }, all);
  return kept({ from: span.from + by, to: span.to + by }, all);
}

/** A span with some of its surroundings; one too short to be seen, with more. */
export function around(span: Span, all: Reach, share = 0.6): Span {
  const length = Math.max(lengthOf(span) / share, 20 * all.least);
  const middle = (span.from + span.to) / 2;
  return kept({ from: middle - length / 2, to: middle + length / 2 }, all);
}

/** The same length, moved only where what is wanted is not on screen. */
export function showing(span: Span, wanted: Span, all: Reach): Span {
  const isIn = wanted.from < span.to && wanted.to >= span.from;
  return isIn ? span : moved(span, (wanted.from + wanted.to) / 2 - (span.from + span.to) / 2, all);
}
