/** A virtual list of code rows with folding. Knows documents and the session, no host. */

import { GRADIENT, INFERRED } from "../wire/columns";
import type { Doc } from "../model/document";
import { firstPaired } from "../model/pairs";
import type { Session } from "../model/session";
import type { Pick } from "../model/store";
import { type Geometry, offsetAt, scrollHeight, scrollTopFor, visibleRange } from "./geometry";
import { type Named, markHit, markNames, paintRows } from "./marks";
import { contentOf } from "./rowContent";
import { element, rowElement } from "./rowView";
import { Ruler } from "./ruler";
import { Sticky } from "./sticky";

const OVERSCAN = 6;
const GUTTER_PX = 60;
/** What of the shared state the rows themselves show. */
const REBUILDING = ["show", "heat", "lane", "warned"] as const;

let panes = 0;

export class CodePane {
  readonly list = element("div", "jxs-code");
  private spacer = element("div", "jxs-spacer");
  private content = element("div", "jxs-rows");
  private drawn = new Map<number, HTMLElement>();
  private rowHeight = 18;
  private id = `jxs-pane-${panes++}`;
  private named: Named | null = null;
  private placed = false;
  private undo: (() => void)[] = [];
  private resize = new ResizeObserver(() => this.resized());
  private widest = 0;
  private ruler: Ruler;
  private sticky: Sticky;

  constructor(
    readonly doc: Doc,
    readonly session: Session,
  ) {
    this.ruler = new Ruler(doc, (row) => this.moveTo(row, "center"));
    this.sticky = new Sticky(
      doc,
      (row) => contentOf(this.session, this.doc, row),
      (row) => this.moveTo(row, "center"),
    );
    this.list.tabIndex = 0;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", `${doc.info.title}, ${doc.info.lines} lines`);
    this.content.setAttribute("role", "presentation");
    this.spacer.setAttribute("aria-hidden", "true");
    this.list.append(this.spacer, this.content);
    this.list.addEventListener("scroll", () => this.scrolled());
    this.content.addEventListener("pointerover", (e) => this.pointed(e));
    this.list.addEventListener("pointerleave", () => this.left());
  }

  mount(parent: HTMLElement): void {
    parent.append(this.list, this.ruler.node, this.sticky.node);
    this.rowHeight = Number.parseFloat(getComputedStyle(this.list).getPropertyValue("--jxs-row")) || 18;
    this.undo = [
      this.doc.onChange(() => this.rebuild()),
      this.doc.onFill(() => this.fill()),
      this.session.store.subscribe((now, before) => {
        if (REBUILDING.some((name) => now[name] !== before[name])) this.rebuild();
        if (now.selected !== before.selected) this.follow(now.selected);
        if (now.selected !== before.selected) this.paintRuler();
        if (now.selected !== before.selected || now.hover !== before.hover) this.paint();
      }),
      this.session.onState(() => {
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

  get geometry(): Geometry {
    return { rowHeight: this.rowHeight, rows: this.doc.folds.visible, viewport: this.list.clientHeight };
  }

  /** Draws everything anew, where the rows themselves have changed. */
  rebuild(): void {
    this.drawn.clear();
    this.sticky.forget();
    this.content.replaceChildren();
    this.spacer.style.height = `${scrollHeight(this.geometry)}px`;
    this.draw();
    this.paintRuler();
    this.showError();
    this.begin();
    this.catchUp();
  }

  /** Draws the rows again whose lines were still to come. */
  private fill(): void {
    for (const [row, node] of this.drawn) {
      if (!node.classList.contains("jxs-empty-row") || this.doc.text?.line(row) === undefined) continue;
      node.remove();
      this.drawn.delete(row);
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
    const g = this.geometry;
    const [first, last] = visibleRange(g, this.list.scrollTop, OVERSCAN);
    text.want(folds.rowAt(first), folds.rowAt(Math.max(first, last)));
    const rows: number[] = [];
    for (let index = first; index <= last; index++) rows.push(folds.rowAt(index));
    const fresh = this.sync(rows);
    const offset = first * g.rowHeight - offsetAt(g, this.list.scrollTop) + this.list.scrollTop;
    this.content.style.transform = `translateY(${offset}px)`;
    const hiddenRows = Math.floor(offsetAt(g, this.list.scrollTop) / g.rowHeight);
    this.sticky.show(folds.rowAt(hiddenRows), hiddenRows);
    if (fresh) {
      this.paint();
      this.keepWidth();
    }
  }

  /** The list never gets narrower while it scrolls, or its horizontal position would jump. */
  private keepWidth(): void {
    if (this.content.scrollWidth <= this.widest) return;
    this.widest = this.content.scrollWidth;
    this.content.style.minWidth = `max(100%, ${this.widest}px)`;
  }

  private sync(rows: number[]): boolean {
    const wanted = new Set(rows);
    for (const [row, node] of this.drawn) {
      if (wanted.has(row)) continue;
      node.remove();
      this.drawn.delete(row);
    }
    let fresh = false;
    let next = this.content.firstElementChild;
    for (const row of rows) {
      const there = this.drawn.get(row);
      if (there && there === next) next = next.nextElementSibling;
      else this.content.insertBefore(there ?? this.create(row), next);
      fresh ||= !there;
    }
    return fresh;
  }

  private create(row: number): HTMLElement {
    const node = rowElement(contentOf(this.session, this.doc, row));
    node.id = `${this.id}-${row}`;
    const flags = this.doc.rows?.flags[row] ?? 0;
    node.classList.toggle("jxs-inferred", (flags & INFERRED) > 0);
    node.classList.toggle("jxs-gradient", (flags & GRADIENT) > 0);
    node.classList.toggle("jxs-empty-row", this.doc.text?.line(row) === undefined);
    this.drawn.set(row, node);
    return node;
  }

  /** Classes that come and go without a change of the rows: what is selected, lit, named, in error. */
  paint(): void {
    const { session, doc } = this;
    paintRows(session, doc, this.drawn);
    markNames(doc, this.drawn, this.named);
    markHit(doc, this.drawn);
    if (this.drawn.has(doc.current)) this.list.setAttribute("aria-activedescendant", `${this.id}-${doc.current}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  private paintRuler(): void {
    const { session, doc } = this;
    const errorRow = doc.kind === "python" ? session.errorRow() : -1;
    const { selected, warned } = session.store.get();
    this.ruler.paint(session.lit(selected), errorRow, scrollHeight(this.geometry), warned?.rows(doc.kind) ?? []);
  }

  /** Brings the hit that is stepped to into view sideways. */
  revealHit(): void {
    const mark = this.content.querySelector(".jxs-hit-now")?.getBoundingClientRect();
    const box = this.list.getBoundingClientRect();
    if (!mark || (mark.left > box.left + GUTTER_PX && mark.right < box.right)) return;
    this.list.scrollLeft += mark.left - box.left - box.width / 3;
  }

  /** A new error is scrolled to, once. */
  private showError(): void {
    const row = this.doc.kind === "python" ? this.session.errorRow() : -1;
    if (row < 0 || row === this.doc.errorShown) return;
    this.doc.errorShown = row;
    this.moveTo(row, "center");
  }

  /** XLA prints the entry computation last, and it is what one reads first. */
  private begin(): void {
    const { doc } = this;
    if (doc.begun || doc.kind !== "hlo" || !doc.rows || !this.canScroll) return;
    doc.begun = true;
    const row = doc.folds.lastBlock;
    if (row <= 0 || doc.current > 0 || this.list.scrollTop > 0) return;
    doc.current = row;
    this.list.scrollTop = scrollTopFor(this.geometry, doc.folds.indexOf(row) * this.geometry.rowHeight);
    this.scrolled();
  }

  rowOf(target: EventTarget | null): number {
    const node = target instanceof Element ? target.closest<HTMLElement>(".jxs-row") : null;
    return node ? Number(node.dataset.row) : -1;
  }

  private pointed(event: PointerEvent): void {
    const row = this.rowOf(event.target);
    const name = event.target instanceof HTMLElement ? event.target.dataset.name : undefined;
    this.name(name === undefined ? null : { name, row });
    const { hover, selected } = this.session.store.get();
    if (row >= 0 && !(hover?.doc === this.doc.kind && hover.row === row)) {
      const pick: Pick = { doc: this.doc.kind, row, from: this.doc.kind };
      this.session.store.set({ hover: selected?.doc === pick.doc && selected.row === row ? selected : pick });
    }
  }

  private left(): void {
    this.name(null);
    this.session.store.set({ hover: null });
  }

  private name(named: Named | null): void {
    if (named?.name === this.named?.name && named?.row === this.named?.row) return;
    this.named = named;
    markNames(this.doc, this.drawn, named);
  }

  /** After a selection: elsewhere made, show its first counterpart here; here made, show the row itself. */
  private follow(selected: Pick | null): void {
    if (!selected) return;
    this.doc.followed = selected;
    if (selected.from === this.doc.kind) return;
    const pair = firstPaired(this.session, this.doc, selected);
    if (selected.doc === this.doc.kind) this.moveTo(selected.row, "center");
    else if (pair >= 0) this.moveTo(pair, "center");
    else this.revealLit(1, true);
  }

  /** Follows a selection that was made in another view, while this pane was closed or empty. */
  private catchUp(): void {
    const { selected } = this.session.store.get();
    if (!selected || selected === this.doc.followed || !this.canScroll || !this.doc.rows) return;
    if (selected.doc === this.doc.kind || this.session.lit(selected)) this.follow(selected);
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
    return this.session.litRowsOf(this.doc);
  }

  private isInView(row: number): boolean {
    if (this.doc.folds.isHidden(row)) return false;
    const g = this.geometry;
    const top = this.doc.folds.indexOf(row) * g.rowHeight - offsetAt(g, this.list.scrollTop);
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
    const offset = offsetAt(g, this.list.scrollTop);
    const centred = top - (g.viewport - g.rowHeight) / 2;
    const nearest = top < offset + g.rowHeight ? top - g.rowHeight : top + g.rowHeight - g.viewport;
    const far = Math.abs(nearest - offset) > g.viewport;
    this.list.scrollTop = scrollTopFor(g, where === "center" || far ? centred : nearest);
    this.scrolled();
  }
}
