/** Marks beside the scrollbar: where in the whole document the counterparts, the hits, what is warned of and the error are. */

import type { Doc } from "../model/document";
import { type Lit, STRONG, WEAK, classOf } from "../model/links";
import { element } from "./rowView";

const CLASSES = ["", "weak", "hit", "strong", "warning", "error"] as const;
const [, WEAK_MARK, HIT_MARK, STRONG_MARK, WARNING_MARK, ERROR_MARK] = CLASSES.keys();
const SLOT_PX = 3;

/** The strongest thing in each slot of the ruler, as an index into CLASSES. */
function slots(doc: Doc, lit: Lit | null, errorRow: number, n: number, warned: Iterable<number> = []): Uint8Array {
  const marks = new Uint8Array(n);
  const put = (row: number, mark = 0) => {
    const slot = Math.min(n - 1, Math.floor((doc.folds.indexOf(row) / Math.max(1, doc.folds.visible)) * n));
    marks[slot] = Math.max(marks[slot] ?? 0, mark);
  };
  const { rows } = doc;
  if (lit && rows) {
    for (let row = 0; row < rows.frame.length; row++) {
      const cls = classOf(lit, rows, row);
      if (cls) put(row, cls === STRONG ? STRONG_MARK : cls === WEAK ? WEAK_MARK : 0);
    }
  }
  if (doc.search.open) for (const row of doc.search.hits?.rows ?? []) put(row, HIT_MARK);
  for (const row of warned) put(row, WARNING_MARK);
  if (errorRow >= 0) put(errorRow, ERROR_MARK);
  return marks;
}

export class Ruler {
  readonly node = element("div", "jxs-ruler");
  private height = 0;

  constructor(
    private doc: Doc,
    onJump: (row: number) => void,
  ) {
    this.node.setAttribute("aria-hidden", "true");
    this.node.addEventListener("click", (event) => {
      const share = (event.clientY - this.node.getBoundingClientRect().top) / Math.max(1, this.height);
      onJump(doc.folds.rowAt(Math.min(doc.folds.visible - 1, Math.floor(share * doc.folds.visible))));
    });
  }

  /** `textHeight`: of all rows, in pixels; where they do not fill the view, marks stand beside their rows. */
  paint(lit: Lit | null, errorRow: number, textHeight: number, warned: Iterable<number>): void {
    this.height = Math.min(this.node.clientHeight, textHeight);
    const n = Math.max(1, Math.floor(this.height / SLOT_PX));
    const marks = slots(this.doc, lit, errorRow, n, warned);
    const nodes: HTMLElement[] = [];
    marks.forEach((mark, slot) => {
      if (!mark) return;
      const node = element("i", `jxs-mark-${CLASSES[mark]}`);
      node.style.top = `${(this.height * slot) / n}px`;
      nodes.push(node);
    });
    this.node.replaceChildren(...nodes);
  }
}
