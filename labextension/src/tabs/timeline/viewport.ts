/** What part of the time is on screen: zoomed, moved, kept inside what was recorded. All in seconds. */

export interface Span {
  from: number;
  to: number;
}

/** The shortest time that fills the view. */
export const LEAST = 1e-9;
/** How far beyond what was recorded one may see, as a part of what is on screen. */
const MARGIN = 0.05;

export const lengthOf = (span: Span): number => span.to - span.from;

/** All of it, with a little room. */
export function fitted(all: Span): Span {
  const room = Math.max(lengthOf(all), LEAST) * 0.01;
  return { from: all.from - room, to: all.to + room };
}

/** Kept as near to what was recorded as its length allows. */
export function kept(span: Span, all: Span): Span {
  const most = lengthOf(fitted(all));
  const length = Math.min(Math.max(lengthOf(span), LEAST), most);
  if (length >= most) return fitted(all);
  const room = length * MARGIN;
  const middle = (span.from + span.to) / 2;
  const from = Math.max(all.from - room, Math.min(all.to + room - length, middle - length / 2));
  return { from, to: from + length };
}

/** The same moment stays where it is on screen while the time around it grows or shrinks by a factor. */
export function zoomed(span: Span, factor: number, around: number, all: Span): Span {
  const length = Math.min(Math.max(lengthOf(span) * factor, LEAST), lengthOf(fitted(all)));
  const share = (around - span.from) / Math.max(lengthOf(span), Number.MIN_VALUE);
  const from = around - share * length;
  return kept({ from, to: from + length }, all);
}

export function moved(span: Span, by: number, all: Span): Span {
  if (by === -Infinity) return kept({ from: all.from, to: all.from + lengthOf(span) }, all);
  if (by === Infinity) return kept({ from: all.to - lengthOf(span), to: all.to }, all);
  return kept({ from: span.from + by, to: span.to + by }, all);
}

/** A stretch of time with some of its surroundings; one too short to be seen, with more. */
export function around(span: Span, all: Span, share = 0.6): Span {
  const length = Math.max(lengthOf(span) / share, 20 * LEAST);
  const middle = (span.from + span.to) / 2;
  return kept({ from: middle - length / 2, to: middle + length / 2 }, all);
}

/** The same length, moved only where a stretch of time is not on screen. */
export function showing(span: Span, wanted: Span, all: Span): Span {
  const isIn = wanted.from < span.to && wanted.to > span.from;
  return isIn ? span : moved(span, (wanted.from + wanted.to) / 2 - (span.from + span.to) / 2, all);
}
