/** The events that a search of the whole trace finds, in the order of time. */

import { count } from "../../wire/check";
import { Columns } from "../../wire/columns";
import type { Reply } from "../../wire/source";
import type { EventPlace } from "./read";

export interface Hits {
  query: string;
  /** How many there are in the whole trace. */
  total: number;
  /** The place of the first of those that are here among all. */
  first: number;
  events: Int32Array;
  lanes: Int32Array;
  /** In seconds since the recording's origin. */
  starts: Float64Array;
  durations: Float64Array;
  /** Of its lane, in which each is drawn. */
  rows: Int32Array;
  /** The looks of all hits, those of other pages too. */
  looks: ReadonlySet<number>;
}

/** Hits that are sent at a time. */
export const PAGE = 2000;

export async function readHits(reply: Reply): Promise<Hits> {
  const columns = await Columns.of(reply);
  const { result } = reply;
  const length = columns.lengthOf("event");
  return {
    query: typeof result.query === "string" ? result.query : "",
    total: Math.max(length, count(result.total)),
    first: count(result.first),
    events: columns.ints("event"),
    lanes: columns.ints("lane", length),
    starts: columns.floats("start", length, 0),
    durations: columns.floats("duration", length, 0),
    rows: columns.ints("row", length, 0),
    looks: new Set(columns.ints("look")),
  };
}

/** Where one of the hits here is drawn. */
export const placeOf = ({ events, lanes, rows, starts, durations }: Hits, at: number): EventPlace => ({
  event: events[at] ?? -1,
  lane: lanes[at] ?? 0,
  row: rows[at] ?? 0,
  start: starts[at] ?? 0,
  seconds: durations[at] ?? 0,
});

/** The place of the hit to go to from another, round the end; from -1 the first at or after a time. */
export function nextHit(total: number, now: number, step: 1 | -1): number {
  if (!total) return -1;
  if (now < 0) return step > 0 ? 0 : total - 1;
  return (now + step + total) % total;
}

/** The first hit at or after a time, among those here; -1 for none. */
export function firstFrom(hits: Hits, time: number): number {
  let [low, high] = [0, hits.starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits.starts[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low < hits.starts.length ? hits.first + low : -1;
}
