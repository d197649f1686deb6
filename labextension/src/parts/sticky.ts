import type { Doc } from "../model/document";
import { element, rowElement } from "./rowView";
import type { RowContent } from "./rowView";

/** The head of the computation, function or file that the first visible row is in; -1 where that row is in none. */
export function headOf(doc: Doc, row: number): number {
  let head = -1;
  for (let up = doc.folds.parent(row); up >= 0; up = doc.folds.parent(up)) {
    const line = doc.text?.line(up) ?? "";
    if (/^\s*module\b/.test(line)) continue;
    head = up;
    if (doc.kind === "jaxpr" && /\{ lambda\b/.test(line)) break;
  }
  return head;
}

/** Stands over the first visible row and says what it belongs to. */
export class Sticky {
  readonly node = element("div", "jxs-sticky");
  private shown = -1;

  constructor(
    private doc: Doc,
    private describe: (row: number) => RowContent,
    onGo: (row: number) => void,
  ) {
    this.node.hidden = true;
    this.node.setAttribute("aria-hidden", "true");
    this.node.addEventListener("click", () => onGo(this.shown));
  }

  /** `hiddenRows`: how many rows have scrolled out above. */
  show(firstRow: number, hiddenRows: number): void {
    const head = hiddenRows > 0 ? headOf(this.doc, firstRow) : -1;
    if (head === this.shown) return;
    this.shown = head;
    this.node.hidden = head < 0;
    if (head >= 0) {
      const row = rowElement({ ...this.describe(head), marks: [], comment: "" });
      row.removeAttribute("data-row");
      row.removeAttribute("role");
      this.node.replaceChildren(row);
    }
  }

  forget(): void {
    this.shown = -1;
    this.node.hidden = true;
  }
}
