/** What is marked inside drawn rows: the very expression, the named value, the search hit that is stepped to. */

import type { Doc } from "../document";
import { type SourceRange, inRange, sourceLine } from "../links";
import { sameScope } from "../symbols";
import { element } from "./rowView";

export type Drawn = Map<number, HTMLElement>;

/** A name as it is read in a row. */
export interface Named {
  name: string;
  row: number;
}

/** Marks the part of a source line that a range covers, where its columns are known. */
export function underline(doc: Doc, row: number, node: HTMLElement, range: SourceRange | null): void {
  node.querySelector(".jxs-range")?.remove();
  const line = doc.rows && sourceLine(doc.rows, row);
  if (!line || !range || !range.endColumn || !inRange(range, line)) return;
  const text = doc.text?.line(row) ?? "";
  const from = line.number === range.line ? range.column - 1 : text.length - text.trimStart().length;
  const to = Math.min(line.number === range.endLine ? range.endColumn - 1 : text.length, text.length);
  if (to <= from) return;
  const mark = element("span", "jxs-range");
  mark.style.left = `${from}ch`;
  mark.style.width = `${to - from}ch`;
  node.querySelector(".jxs-line")?.append(mark);
}

function unmark(drawn: Drawn, className: string): void {
  for (const node of drawn.values()) {
    for (const marked of node.querySelectorAll(`.${className}`)) marked.classList.remove(className);
  }
}

/** Marks where else the same value is bound and used. */
export function markNames(doc: Doc, drawn: Drawn, named: Named | null): void {
  unmark(drawn, "jxs-same");
  if (!named) return;
  for (const [row, node] of drawn) {
    for (const token of node.querySelectorAll<HTMLElement>("[data-name]")) {
      if (token.dataset.name !== named.name) continue;
      const isGlobal = token.classList.contains("jxs-t-ref");
      if (isGlobal || sameScope(doc, row, named.row)) token.classList.add("jxs-same");
    }
  }
}

export function markHit(doc: Doc, drawn: Drawn): void {
  unmark(drawn, "jxs-hit-now");
  const { hits, at, open } = doc.search;
  if (!open || !hits || at < 0) return;
  const row = hits.rows[at] ?? -1;
  let nth = 0;
  while (hits.rows[at - nth - 1] === row) nth++;
  const marks = drawn.get(row)?.querySelectorAll(".jxs-hit");
  (marks?.[nth] ?? marks?.[0])?.classList.add("jxs-hit-now");
}
