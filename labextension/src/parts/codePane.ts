/** A pane of code: a virtual list of a document's rows, with folds, marks and what is selected. Knows no host. */

import { GRADIENT, INFERRED } from "../wire/columns";
import type { Doc } from "../model/document";
import { firstPaired } from "../model/pairs";
import { plainOperation } from "../model/operations";
import type { Documents } from "../model/documents";
import type { Panel } from "../model/panel";
import type { Pick } from "../model/place";
import type { Selection } from "../model/selection";
import { type Geometry, scrollHeight } from "./geometry";
import { type Named, markHit, markNames, paintRows } from "./marks";
import { contentOf } from "./rowContent";
import { rowElement } from "./rowView";
import { Ruler } from "./ruler";
import { Sticky } from "./sticky";
import { VirtualList } from "./virtualList";

const GUTTER_PX = 60;
/** What of the shared state the rows themselves show. */
const REBUILDING = ["show", "heat", "lane", "warned", "marked"] as const;

export class CodePane {
  private lines: VirtualList;
  private named: Named | null = null;
  private placed = false;
  private undo: (() => void)[] = [];
  private resize = new ResizeObserver(() => this.resized());
  private ruler: Ruler;
  private sticky: Sticky;

  constructor(
    readonly doc: Doc,
    readonly documents: Documents,
    readonly selection: Selection,
    private panel: Panel,
  ) {
    this.ruler = new Ruler(doc, (row) => this.moveTo(row, "center"));
    this.sticky = new Sticky(
      doc,
      (row) => contentOf(this.documents, this.selection, this.doc, row),
      (row) => this.moveTo(row, "center"),
    );
    this.lines = new VirtualList(
      { count: () => doc.folds.visible, keyAt: (index) => doc.folds.rowAt(index), create: (row) => this.create(row) },
      `${doc.info.title}, ${doc.info.lines} lines`,
    );
    this.list.addEventListener("scroll", () => this.scrolled());
    this.list.addEventListener("pointerover", (e) => this.pointed(e));
    this.list.addEventListener("pointerleave", () => this.left());
  }

  mount(parent: HTMLElement): void {
    parent.append(this.list, this.ruler.node, this.sticky.node);
    this.lines.attached();
    this.undo = [
      this.doc.onChange(() => this.rebuild()),
      this.doc.fills.onChange(() => this.fill()),
      this.selection.onChange((now, before) => {
        if (REBUILDING.some((name) => now[name] !== before[name])) this.rebuild();
        if (now.selected !== before.selected) this.follow(now.selected);
        if (now.selected !== before.selected) this.paintRuler();
        if (now.selected !== before.selected || now.hover !== before.hover) this.paint();
      }),
      this.panel.onChange(() => {
        this.showError();
        this.paint();
      }),
    ];
    this.rebuild();
    this.place();
    this.catchUp();
    this.resize.observe(this.list);
    this.draw();
  }

  unmount(): void {
    this.resize.disconnect();
    for (const undo of this.undo) undo();
    this.list.remove();
    this.ruler.node.remove();
    this.sticky.node.remove();
  }

  get list(): HTMLElement {
    return this.lines.node;
  }

  get geometry(): Geometry {
    return this.lines.geometry;
  }

  /** Draws everything anew, where the rows themselves have changed. */
  rebuild(): void {
    this.sticky.forget();
    this.lines.clear();
    this.draw();
    this.paintRuler();
    this.showError();
    this.begin();
    this.catchUp();
  }

  /** Draws the rows again whose lines were still to come. */
  private fill(): void {
    for (const [row, node] of [...this.lines.drawn]) {
      if (node.classList.contains("jxs-empty-row") && this.doc.text?.line(row) !== undefined) this.lines.drop(row);
    }
    this.draw();
  }

  /** Where the user was; a list that is not in the page yet, or hidden, cannot scroll, and is placed once it can. */
  private place(): void {
    this.list.scrollTop = this.doc.scrollTop;
    this.list.scrollLeft = this.doc.scrollLeft;
    this.placed = this.list.clientHeight > 0;
  }

  /** A notebook may keep a second view of the panel that is hidden; what is done once is done by the one in sight. */
  private get canScroll(): boolean {
    return this.placed && this.list.clientHeight > 0;
  }

  private resized(): void {
    if (!this.placed) this.place();
    this.begin();
    this.catchUp();
    this.draw();
    this.paintRuler();
  }

  private scrolled(): void {
    if (!this.placed) return;
    this.doc.scrollTop = this.list.scrollTop;
    this.doc.scrollLeft = this.list.scrollLeft;
    this.draw();
  }

  /** Brings the drawn rows in line with the scroll position; rows that stay keep their elements. */
  draw(): void {
    const text = this.doc.text;
    if (!text || !this.list.isConnected) return;
    const { folds } = this.doc;
    const [first, last] = this.lines.range;
    text.want(folds.rowAt(first), folds.rowAt(Math.max(first, last)));
    const isFresh = this.lines.draw([first, last]);
    const hiddenRows = Math.floor(this.lines.offset / this.lines.rowHeight);
    this.sticky.show(folds.rowAt(hiddenRows), hiddenRows);
    if (!isFresh) return;
    this.paint();
    this.lines.keepWidth();
  }

  private create(row: number): HTMLElement {
    const node = rowElement(contentOf(this.documents, this.selection, this.doc, row));
    const flags = this.doc.rows?.flags[row] ?? 0;
    node.classList.toggle("jxs-inferred", (flags & INFERRED) > 0);
    node.classList.toggle("jxs-gradient", (flags & GRADIENT) > 0);
    node.classList.toggle("jxs-empty-row", this.doc.text?.line(row) === undefined);
    return node;
  }

  /** Classes that come and go without a change of the rows: what is selected, lit, named, in error. */
  paint(): void {
    const { doc, documents, selection } = this;
    const { drawn } = this.lines;
    paintRows(documents, selection, doc, drawn);
    markNames(doc, drawn, this.named);
    markHit(doc, drawn);
    this.lines.setActive(doc.current);
  }

  private paintRuler(): void {
    const { doc, documents, selection } = this;
    const errorRow = doc.kind === "python" ? documents.errorRow() : -1;
    const { selected, warned } = selection.get();
    this.ruler.paint(documents.lit(selected), errorRow, scrollHeight(this.geometry), warned?.rows(doc.kind) ?? []);
  }

  /** Brings the hit that is stepped to into view sideways. */
  revealHit(): void {
    const mark = this.lines.find(".jxs-hit-now")?.getBoundingClientRect();
    const box = this.list.getBoundingClientRect();
    if (!mark || (mark.left > box.left + GUTTER_PX && mark.right < box.right)) return;
    this.list.scrollLeft += mark.left - box.left - box.width / 3;
  }

  /** A new error is scrolled to, once. */
  private showError(): void {
    const row = this.doc.kind === "python" ? this.documents.errorRow() : -1;
    if (row < 0 || row === this.doc.errorShown) return;
    this.doc.errorShown = row;
    this.moveTo(row, "center");
  }

  /**
   * XLA prints the entry computation last, JAX a jaxpr after those that it shares: what one reads first. Its parameters, and
   * the shared jaxprs, begin folded.
   */
  private begin(): void {
    const { doc } = this;
    if (doc.begun || !["hlo", "jaxpr"].includes(doc.kind) || !doc.rows || !this.canScroll) return;
    doc.begun = true;
    const { folds } = doc;
    const blocks = folds.outermost;
    const main = blocks.pop() ?? -1;
    if (main < 0 || doc.current > 0 || this.list.scrollTop > 0 || folds.anyFolded) return;
    folds.settle(doc.kind === "hlo" ? [main + 1] : blocks);
    doc.changed();
    if (doc.kind !== "hlo" || main === 0) return;
    doc.current = main;
    this.lines.scrollTo(folds.indexOf(main) * this.lines.rowHeight);
    this.scrolled();
  }

  rowOf(target: EventTarget | null): number {
    return this.lines.keyOf(target);
  }

  private pointed(event: PointerEvent): void {
    const row = this.rowOf(event.target);
    const name = event.target instanceof HTMLElement ? event.target.dataset.name : undefined;
    this.name(name === undefined ? null : { name, row });
    if (event.target instanceof HTMLElement && (name || event.target.classList.contains("jxs-t-op"))) {
      const said = event.target.textContent ?? "";
      event.target.title = this.doc.help.get(said) ?? this.doc.help.get(plainOperation(said)) ?? "";
    }
    const { hover, selected } = this.selection.get();
    if (row >= 0 && !(hover?.doc === this.doc.kind && hover.row === row)) {
      const pick: Pick = { doc: this.doc.kind, row, from: this.doc.kind };
      this.selection.set({ hover: selected?.doc === pick.doc && selected.row === row ? selected : pick });
    }
  }

  private left(): void {
    this.name(null);
    this.selection.set({ hover: null });
  }

  private name(named: Named | null): void {
    if (named?.name === this.named?.name && named?.row === this.named?.row) return;
    this.named = named;
    markNames(this.doc, this.lines.drawn, named);
  }

  /** After a selection: elsewhere made, show its first counterpart here; here made, show the row itself. */
  private follow(selected: Pick | null): void {
    if (!selected) return;
    this.doc.followed = selected;
    if (selected.from === this.doc.kind) return;
    const pair = firstPaired(this.documents, this.doc, selected);
    if (selected.doc === this.doc.kind) this.moveTo(selected.row, "center");
    else if (pair >= 0) this.moveTo(pair, "center");
    else this.revealLit(1, true);
  }

  /** Follows a selection that was made in another view, while this pane was closed or empty. */
  private catchUp(): void {
    const { selected } = this.selection.get();
    if (!selected || selected === this.doc.followed || !this.canScroll || !this.doc.rows) return;
    if (selected.doc === this.doc.kind || this.documents.lit(selected)) this.follow(selected);
  }

  /** Scrolls to a counterpart of the selection: the first one, or the next or previous from the current row. */
  revealLit(step: 1 | -1, first = false): void {
    const rows = this.litRows();
    const { current } = this.doc;
    const inView = first && rows.find((row) => this.isInView(row));
    if (inView) return;
    const next = step > 0 ? rows.find((row) => row > current) : rows.findLast((row) => row < current);
    const target = first ? rows[0] : (next ?? (step > 0 ? rows[0] : rows.at(-1)));
    if (target !== undefined) this.moveTo(target, "center");
  }

  litRows(): number[] {
    return this.documents.litRowsOf(this.doc);
  }

  private isInView(row: number): boolean {
    if (this.doc.folds.isHidden(row)) return false;
    const g = this.geometry;
    const top = this.doc.folds.indexOf(row) * g.rowHeight - this.lines.offset;
    return top >= (row > 0 ? g.rowHeight : 0) && top + g.rowHeight <= g.viewport;
  }

  /** Makes a row current, unfolds what hides it and scrolls it into view. */
  moveTo(row: number, where: "center" | "nearest"): void {
    const { doc } = this;
    if (!doc.text || doc.text.length === 0) return;
    doc.current = Math.max(0, Math.min(row, doc.text.length - 1));
    if (doc.folds.reveal(doc.current)) doc.changed();
    if (!this.isInView(doc.current)) this.scrollToRow(doc.current, where);
    this.paint();
  }

  private scrollToRow(row: number, where: "center" | "nearest"): void {
    const g = this.geometry;
    const top = this.doc.folds.indexOf(row) * g.rowHeight;
    const offset = this.lines.offset;
    const centred = top - (g.viewport - g.rowHeight) / 2;
    const nearest = top < offset + g.rowHeight ? top - g.rowHeight : top + g.rowHeight - g.viewport;
    const far = Math.abs(nearest - offset) > g.viewport;
    this.lines.scrollTo(where === "center" || far ? centred : nearest);
    this.scrolled();
  }
}
