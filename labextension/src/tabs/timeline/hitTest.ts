/** What is drawn at a point of the lanes. */

import { type Item, ROW } from "./laneItems";
import { type View, isOne, partsOf } from "./paintLanes";
import type { Part } from "./tiles";

export interface Hit {
  item: Item;
  row: number;
  /** The event; of several in a bin the longest. */
  event: number;
  /** Index in `TileCache.looks`. */
  look: number;
  from: number;
  to: number;
  /** How many events, and the busy part of the bin; of one event 1 and 1. */
  count: number;
  busy: number;
  seconds: number;
  /** Of a counter; null elsewhere. */
  value: number | null;
}

function hitOf(item: Item, row: number, part: Part, i: number): Hit {
  const [from, to] = [part.left[i], part.right[i]].map((bins) => part.start + (bins as number) * part.bin) as [number, number];
  return {
    item,
    row,
    event: part.event[i] as number,
    look: part.look[i] as number,
    from,
    to,
    count: isOne(part, i) ? 1 : (part.count[i] as number),
    busy: isOne(part, i) ? 1 : (part.busy[i] as number) / 255,
    seconds: part.seconds[i] as number,
    value: item.lane?.counter ? (part.seconds[i] as number) : null,
  };
}

/** The event at a moment and a height in the view; a narrow one that is `slack` seconds away too. */
export function hitAt(view: View, level: number, seconds: number, y: number, slack: number): Hit | null {
  const height = y + view.scroll;
  const item = view.items.find((one) => height >= one.top && height < one.top + one.height);
  if (!item?.lane) return null;
  const row = item.lane.counter ? 0 : Math.floor((height - item.top) / ROW);
  let best: { part: Part; i: number; away: number } | null = null;
  for (const { part, from, to } of partsOf(view, level, item.lane.lane)) {
    if (seconds < from - slack || seconds >= to + slack) continue;
    for (let i = part.rowStart[row] ?? 0; i < (part.rowStart[row + 1] ?? 0); i++) {
      const left = part.start + (part.left[i] as number) * part.bin;
      const right = part.start + (part.right[i] as number) * part.bin;
      const away = Math.max(0, left - seconds, seconds - right);
      if (away <= slack && (!best || away < best.away)) best = { part, i, away };
    }
  }
  return best && hitOf(item, row, best.part, best.i);
}
