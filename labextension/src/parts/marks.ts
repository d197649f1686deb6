/** What is marked on and inside drawn rows: the selection and what it lights up, the very expression, the named value, the search hit that is stepped to. */

import type { Doc } from "../model/document";
import { STRONG, WEAK, classOf, inRange, sourceLine } from "../model/links";
import type { SourceRange } from "../model/place";
import { paired } from "../model/pairs";
import { sameScope } from "../model/symbols";
import { isTitle } from "./rowContent";
import { element } from "./rowView";
import type { Documents } from "../model/documents";
import type { Selection } from "../model/selection";

export type Drawn = Map<number, HTMLElement>;

/** A name as it is read in a row. */
export interface Named {
  name: string;
  row: number;
}

/** Marks which drawn rows are selected, lit, current, in error. */
export function paintRows(documents: Documents, selection: Selection, doc: Doc, drawn: Drawn): void {
  const { hover, selected } = selection.get();
  const [hoverLit, heldLit] = [documents.lit(hover), documents.lit(selected)];
  const errorRow = doc.kind === "python" ? documents.errorRow() : -1;
  const [hoverPair, heldPair] = [paired(documents, doc, hover), paired(documents, doc, selected)];
  for (const [row, node] of drawn) {
    const held = doc.rows ? classOf(heldLit, doc.rows, row) : 0;
    const hovered = doc.rows ? classOf(hoverLit, doc.rows, row) : 0;
    const isSelected = selected?.doc === doc.kind && selected.row === row;
    const strongest = Math.max(held, hovered);
    const { classList } = node;
    classList.toggle("jxs-strong", strongest === STRONG);
    classList.toggle("jxs-weak", strongest === WEAK);
    classList.toggle("jxs-held", held > 0);
    classList.toggle("jxs-hover", hovered > 0);
    classList.toggle("jxs-selected", isSelected);
    classList.toggle("jxs-paired", hoverPair(row) || heldPair(row));
    classList.toggle("jxs-current", doc.current === row);
    classList.toggle("jxs-error", row === errorRow);
    classList.toggle("jxs-title", isTitle(doc, row) && !doc.isLeftOut(row));
    classList.toggle("jxs-left-out", doc.isLeftOut(row));
    node.setAttribute("aria-selected", String(isSelected));
    underline(doc, row, node, hoverLit?.source ?? heldLit?.source ?? null);
  }
}

/** Marks the part of a source line that a range covers, where its columns are known. */
export function underline(doc: Doc, row: number, node: HTMLElement, range: SourceRange | null): void {
  node.querySelector(".jxs-range")?.remove();
  const line = doc.rows && sourceLine(doc.rows, row);
  if (!line || !range || !range.endColumn || !inRange(range, line)) return;
  const text = doc.text?.line(row) ?? "";
  const from = line.line === range.line ? range.column - 1 : text.length - text.trimStart().length;
  const to = Math.min(line.line === range.endLine ? range.endColumn - 1 : text.length, text.length);
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
