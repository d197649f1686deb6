/** Which display lines of a difference show: those that changed, what is near them, and one line for each long rest. */

import { type Diff, SAME } from "./read";

const NEAR = 3;
const LEAST = 5;

/** Of a list's entries: the display line, and how many of them are folded into the entry (0: it is that line). */
export interface Lines {
  line: number[];
  folded: number[];
  /** The entry at which each run of changes begins. */
  changes: number[];
}

export function isTouched(diff: Diff, line: number): boolean {
  const [left, right] = [diff.before.rows[line] ?? -1, diff.after.rows[line] ?? -1];
  return (left >= 0 && diff.before.state[left] !== SAME) || (right >= 0 && diff.after.state[right] !== SAME);
}

/** `open`: display lines with which stretches begin that the user has unfolded. */
export function linesOf(diff: Diff, open: ReadonlySet<number>): Lines {
  const n = diff.before.rows.length;
  const near = new Uint8Array(n);
  for (let line = 0; line < n; line++) {
    if (isTouched(diff, line)) near.fill(1, Math.max(0, line - NEAR), Math.min(n, line + NEAR + 1));
  }
  const lines: Lines = { line: [], folded: [], changes: [] };
  let wasTouched = false;
  for (let line = 0; line < n; ) {
    let end = line;
    while (end < n && !near[end]) end++;
    const folds = end - line >= LEAST && !open.has(line);
    if (folds) {
      lines.line.push(line);
      lines.folded.push(end - line);
      line = end;
      wasTouched = false;
      continue;
    }
    const stop = Math.max(end, line + 1);
    for (; line < stop; line++) {
      const touched = isTouched(diff, line);
      if (touched && !wasTouched) lines.changes.push(lines.line.length);
      wasTouched = touched;
      lines.line.push(line);
      lines.folded.push(0);
    }
  }
  return lines;
}

/** The entry that shows a display line, or that it is folded into. */
export function entryOf(lines: Lines, line: number): number {
  let low = 0;
  let high = lines.line.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines.line[middle] ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The part of an instruction in which it differs from another one, [start, end): other than in names, if it does. */
export function differing(line: string, other: string): [number, number] | null {
  const start = bodyOf(line);
  const bodies: [string, string] = [line.slice(start), other.slice(bodyOf(other))];
  const alike = (a?: string, b?: string) => a === b || (a !== undefined && b !== undefined && isName(a) && isName(b));
  const part = between(...bodies, alike) ?? between(...bodies, (a, b) => a === b);
  return part && [start + part[0], start + part[1]];
}

const bodyOf = (line: string): number => {
  const at = line.indexOf(" = ");
  return at < 0 ? 0 : at + 3;
};

type Same = (a?: string, b?: string) => boolean;

/** What is left of a text without the words that it shares with another one at its begin and end. */
function between(line: string, other: string, same: Same): [number, number] | null {
  const [ours, theirs] = [words(line), words(other)];
  let first = 0;
  while (first < ours.length && same(ours[first], theirs[first])) first++;
  let last = 0;
  while (last < Math.min(ours.length, theirs.length) - first && same(ours.at(-1 - last), theirs.at(-1 - last))) last++;
  const start = ours.slice(0, first).join("").length;
  const end = line.length - ours.slice(ours.length - last).join("").length;
  return end > start ? [start, end] : null;
}

const words = (line: string): string[] => line.match(/%[\w.$-]+|[\w.$-]+|\s+|./gs) ?? [];
const isName = (word: string): boolean => word.startsWith("%");
