/** What stands below each other: heads of groups, lanes as high as they nest, and how many lanes are hidden. */

import type { Lane } from "./read";

export const ROW = 18;
const HEAD = 22;
const COUNTER = 34;
const GAP = 3;

export interface Item {
  kind: "group" | "lane" | "hidden";
  /** In `TimelineState.folded`. */
  key: string;
  title: string;
  top: number;
  height: number;
  /** Of a group, and of hidden ones: how many lanes. */
  count: number;
  open: boolean;
  /** Rows that are drawn; 0 for what is no lane. */
  rows: number;
  lane: Lane | null;
}

const laneKey = (lane: Lane): string => `l:${lane.lane}`;

/** The lanes come in order, those of a group together. */
export function itemsOf(lanes: readonly Lane[], folded: ReadonlySet<string>): Item[] {
  const items: Item[] = [];
  let top = 0;
  const add = (item: Omit<Item, "top">) => {
    items.push({ ...item, top });
    top += item.height;
  };
  for (let at = 0; at < lanes.length; ) {
    const group = lanes[at]?.group ?? "";
    let end = at;
    while (end < lanes.length && lanes[end]?.group === group) end++;
    const own = lanes.slice(at, end);
    const key = `g:${group}`;
    const open = !folded.has(key);
    add({ kind: "group", key, title: group, height: HEAD, count: own.length, open, rows: 0, lane: null });
    if (open) addLanes(own, `h:${group}`, folded, add);
    at = end;
  }
  return items;
}

function addLanes(lanes: Lane[], key: string, folded: ReadonlySet<string>, add: (item: Omit<Item, "top">) => void): void {
  const hidden = lanes.filter((lane) => lane.hidden);
  const open = folded.has(key);
  for (const lane of lanes) if (!lane.hidden) add(laneItem(lane, folded));
  if (!hidden.length) return;
  add({ kind: "hidden", key, title: "", height: ROW, count: hidden.length, open, rows: 0, lane: null });
  if (open) for (const lane of hidden) add(laneItem(lane, folded));
}

function laneItem(lane: Lane, folded: ReadonlySet<string>): Omit<Item, "top"> {
  const key = laneKey(lane);
  const open = !folded.has(key);
  const rows = open ? lane.rows : 1;
  const height = (lane.counter ? COUNTER : rows * ROW) + GAP;
  return { kind: "lane", key, title: lane.name, height, count: lane.events, open, rows, lane };
}

export function heightOf(items: readonly Item[]): number {
  const last = items.at(-1);
  return last ? last.top + last.height : 0;
}

/** The items that are at least partly between two heights: from the first of them to before the last. */
export function between(items: readonly Item[], top: number, bottom: number): [number, number] {
  const firstBelow = (height: number) => {
    let [low, high] = [0, items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const item = items[middle] as Item;
      if (item.top + item.height <= height) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const first = firstBelow(top);
  let end = first;
  while (end < items.length && (items[end] as Item).top < bottom) end++;
  return [first, end];
}

/** Where a row of a lane is drawn; null where its group is folded or it is hidden. */
export function topOf(items: readonly Item[], lane: number, row: number): number | null {
  const item = items.find((one) => one.lane?.lane === lane);
  return item ? item.top + Math.min(row, item.rows - 1) * ROW : null;
}

/** What must be unfolded for a lane to be seen: its group, or those that are hidden there. */
export function shown(lanes: readonly Lane[], lane: number, folded: ReadonlySet<string>): ReadonlySet<string> {
  const found = lanes.find((one) => one.lane === lane);
  if (!found) return folded;
  const next = new Set(folded);
  next.delete(`g:${found.group}`);
  next.delete(laneKey(found));
  if (found.hidden) next.add(`h:${found.group}`);
  return next;
}
