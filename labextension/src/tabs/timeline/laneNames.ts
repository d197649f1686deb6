/** Threads whose names are mostly numbers of the system: short in the margin, whole in what the pointer reads. */

import type { Lane } from "./read";

/** tf_XLAEigen/-3991205312/4183: a pool of threads, then numbers that say nothing. */
const NUMBERED = /^(?:tf_)?([A-Za-z][\w ]{0,60}?)\/-?\d{4,20}(?:\/-?\d{1,20})?$/;

/** "XLAEigen 2" for the second thread of its pool in a group; lanes with names of their own are left out. */
export function shortNames(lanes: readonly Lane[]): Map<number, string> {
  const counts = new Map<string, number>();
  const names = new Map<number, string>();
  for (const { lane, group, name } of lanes) {
    const pool = NUMBERED.exec(name)?.[1];
    if (!pool) continue;
    const key = `${group}\n${pool}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    names.set(lane, `${pool} ${count}`);
  }
  return names;
}
