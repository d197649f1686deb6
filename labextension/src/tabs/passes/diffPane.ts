/** Two documents side by side, as virtual lists of the same height that scroll as one. */

import { GRADIENT, INFERRED } from "../../wire/columns";
import { type Lines, differing, entryOf, linesOf } from "./diffLines";
import type { Doc } from "../../model/document";
import { tokenise } from "../../model/highlight";
import { STRONG, WEAK, classOf } from "../../model/links";
import { CHANGED, type Diff, SAME, type Side } from "./read";
import { type Stretch, hiddenStretches } from "../../model/rewrite";
import type { Documents } from "../../model/documents";
import type { Selection } from "../../model/selection";
import { element, rowElement } from "../../parts/rowView";
import { VirtualList } from "../../parts/virtualList";

const SIGNS: Record<"before" | "after", string[]> = { before: ["", "~", "−", "›"], after: ["", "~", "+", "‹"] };
const WORDS: Record<"before" | "after", string[]> = {
  before: ["", "changed", "removed", "moved"],
  after: ["", "changed", "added", "moved here"],
};
const STATES = ["same", "changed", "gone", "moved"];

interface Half {
  name: "before" | "after";
  side: Side;
  other: Side;
  doc: Doc;
  otherDoc: Doc;
  list: VirtualList;
}

/** Beside a line that the other side alone has. */
function blank(name: Half["name"]): HTMLElement {
  const node = element("div", "jxs-row jxs-diff-blank");
  node.setAttribute("role", "option");
  node.setAttribute("aria-label", name === "before" ? "added after the pass" : "removed by the pass");
  return node;
}

export class DiffPane {
  readonly node = element("div", "jxs-panes jxs-diff");
  /** Told when another change, or another row, is the current one. */
  onMove: () => void = () => undefined;
  onFollow: (doc: string, row: number) => void = () => undefined;
  private halves: [Half, Half];
  private lines: Lines;
  private open = new Set<number>();
  private current = 0;
  private undo: (() => void)[] = [];
  private resize = new ResizeObserver(() => this.draw());

  constructor(
    readonly documents: Documents,
    readonly selection: Selection,
    readonly diff: Diff,
    before: Doc,
    after: Doc,
  ) {
    this.lines = linesOf(diff, this.open);
    this.halves = [
      this.half("before", diff.before, diff.after, before, after),
      this.half("after", diff.after, diff.before, after, before),
    ];
    this.current = this.lines.line[this.lines.changes[0] ?? 0] ?? 0;
  }

  private half(name: "before" | "after", side: Side, other: Side, doc: Doc, otherDoc: Doc): Half {
    const pane = element("div", `jxs-diff-half jxs-diff-${name}`);
    const lines = { count: () => this.lines.line.length, keyAt: (entry: number) => entry, create: (entry: number) => this.create(half, entry) };
    const list = new VirtualList(lines, `${name} the pass, ${side.info.lines} lines`);
    const half: Half = { name, side, other, doc, otherDoc, list };
    pane.append(list.node);
    this.node.append(pane);
    list.node.addEventListener("scroll", () => this.scrolled(half));
    list.node.addEventListener("click", (event) => this.clicked(half, event));
    list.node.addEventListener("pointerover", (event) => this.pointed(half, event));
    list.node.addEventListener("pointerleave", () => this.selection.set({ hover: null }));
    list.node.addEventListener("keydown", (event) => this.pressed(half, event));
    return half;
  }

  mount(parent: HTMLElement): void {
    parent.append(this.node);
    for (const { list } of this.halves) list.attached();
    this.undo = [
      ...this.halves.map((half) => half.doc.onChange(() => this.rebuild())),
      ...this.halves.map((half) => half.doc.fills.onChange(() => this.rebuild())),
      this.selection.onChange((now, before) => {
        if (now.show !== before.show) this.rebuild();
        else if (now.selected !== before.selected || now.hover !== before.hover) this.paint();
        if (now.selected !== before.selected) this.node.classList.toggle("jxs-holding", now.selected !== null);
      }),
    ];
    this.node.classList.toggle("jxs-holding", this.selection.get().selected !== null);
    this.rebuild();
    this.resize.observe(this.node);
    this.moveTo(this.current, true);
  }

  unmount(): void {
    this.resize.disconnect();
    for (const undo of this.undo) undo();
    this.node.remove();
  }

  /** How many runs of changes there are, and which one the current line is in or after, from 1. */
  get changes(): { count: number; at: number } {
    const at = this.lines.changes.filter((entry) => (this.lines.line[entry] ?? 0) <= this.current).length;
    return { count: this.lines.changes.length, at };
  }

  rebuild(): void {
    for (const { list } of this.halves) list.clear();
    this.draw();
  }

  private scrolled(half: Half): void {
    const [from, to] = [half.list.node, this.halves[half === this.halves[0] ? 1 : 0].list.node];
    if (to.scrollTop !== from.scrollTop) to.scrollTop = from.scrollTop;
    if (to.scrollLeft !== from.scrollLeft) to.scrollLeft = from.scrollLeft;
    this.draw();
  }

  private draw(): void {
    if (!this.node.isConnected) return;
    const [first, last] = this.halves[0].list.range;
    for (const half of this.halves) {
      this.want(half, first, last);
      half.list.draw([first, last]);
    }
    this.keepWidth();
    this.paint();
  }

  private want(half: Half, first: number, last: number): void {
    const rows = [...half.side.rows.subarray(this.lines.line[first] ?? 0, (this.lines.line[last] ?? 0) + 1)].filter((r) => r >= 0);
    if (rows.length) half.doc.text?.want(rows[0] as number, rows.at(-1) as number);
  }

  /** Both halves are as wide as the wider one, so that they scroll sideways as one too. */
  private keepWidth(): void {
    const widest = Math.max(...this.halves.map(({ list }) => list.width));
    for (const { list } of this.halves) list.keepWidth(widest);
  }

  private create(half: Half, entry: number): HTMLElement {
    const line = this.lines.line[entry] ?? 0;
    const folded = this.lines.folded[entry] ?? 0;
    return folded ? this.fold(half, line, folded) : this.row(half, half.side.rows[line] ?? -1);
  }

  private fold(half: Half, line: number, folded: number): HTMLElement {
    const node = element("div", "jxs-row jxs-diff-fold");
    const where = half.name === "after" ? this.computation(half, line + folded) : "";
    node.setAttribute("role", "option");
    node.setAttribute("aria-label", `${folded} unchanged lines${where && `, in ${where}`}`);
    node.append(element("span", "jxs-line", half.name === "before" ? `⋯ ${folded} unchanged lines` : where));
    return node;
  }

  /** Below a fold: the computation that goes on. */
  private computation(half: Half, line: number): string {
    const row = half.side.rows[line] ?? -1;
    const head = row >= 0 ? half.doc.folds.parent(row) : -1;
    return head < 0 ? "" : (half.doc.text?.line(head) ?? "").replace(/ \(.*/, "");
  }

  private row(half: Half, row: number): HTMLElement {
    if (row < 0) return blank(half.name);
    const { doc, side, name } = half;
    const line = doc.text?.line(row);
    const state = side.state[row] ?? SAME;
    const flags = doc.rows?.flags[row] ?? 0;
    const node = rowElement({
      row,
      rows: side.info.lines,
      line,
      label: String(row + 1),
      tokens: line === undefined ? [] : tokenise("hlo", line),
      ...this.stretches(half, row, line ?? "", state),
      fold: "none",
      foldedRows: 0,
      comment: "",
      hue: this.documents.hue(doc, row),
    });
    node.classList.add(`jxs-d-${STATES[state] ?? "same"}`);
    node.classList.toggle("jxs-inferred", (flags & INFERRED) > 0);
    node.classList.toggle("jxs-gradient", (flags & GRADIENT) > 0);
    const sign = element("span", "jxs-diff-sign", SIGNS[name][state] ?? "");
    if (state) sign.setAttribute("aria-label", WORDS[name][state] ?? "");
    node.querySelector(".jxs-fold")?.replaceWith(sign);
    return node;
  }

  /** What the toggles hide; but a line shows whole where its change would be hidden. */
  private stretches(half: Half, row: number, line: string, state: number): { hidden: Stretch[]; marks: Stretch[] } {
    const hidden = hiddenStretches("hlo", line, this.selection.get().show);
    const match = half.side.match[row] ?? -1;
    const other = state === CHANGED && match >= 0 ? half.otherDoc.text?.line(match) : undefined;
    if (other === undefined) return { hidden, marks: [] };
    const part = differing(line, other);
    const isHidden = part && hidden.some(([from, to]) => from <= part[0] && part[1] <= to);
    return { hidden: isHidden ? [] : hidden, marks: part ? [part] : [] };
  }

  /** What is selected and lit, on both sides. */
  private paint(): void {
    const { hover, selected } = this.selection.get();
    const [hoverLit, heldLit] = [this.documents.lit(hover), this.documents.lit(selected)];
    for (const half of this.halves) {
      const { doc, side, other } = half;
      const matched = selected?.doc === other.info.kind ? (other.match[selected.row] ?? -1) : -1;
      for (const [entry, node] of half.list.drawn) {
        const line = this.lines.line[entry] ?? 0;
        const row = this.lines.folded[entry] ? -1 : (side.rows[line] ?? -1);
        const held = doc.rows && row >= 0 ? classOf(heldLit, doc.rows, row) : 0;
        const hovered = doc.rows && row >= 0 ? classOf(hoverLit, doc.rows, row) : 0;
        const isSelected = row >= 0 && selected?.doc === side.info.kind && selected.row === row;
        const { classList } = node;
        classList.toggle("jxs-strong", Math.max(held, hovered) === STRONG);
        classList.toggle("jxs-weak", Math.max(held, hovered) === WEAK);
        classList.toggle("jxs-held", held > 0);
        classList.toggle("jxs-selected", isSelected);
        classList.toggle("jxs-match", row >= 0 && row === matched);
        classList.toggle("jxs-current", line === this.current);
        node.setAttribute("aria-selected", String(isSelected));
      }
      half.list.setActive(entryOf(this.lines, this.current));
    }
  }

  private clicked(half: Half, event: MouseEvent): void {
    const entry = half.list.keyOf(event.target);
    const selection = document.getSelection();
    if (entry < 0 || (selection && !selection.isCollapsed && half.list.node.contains(selection.anchorNode))) return;
    this.act(half, entry);
  }

  /** Unfolds a fold; selects a row. */
  private act(half: Half, entry: number): void {
    const line = this.lines.line[entry] ?? 0;
    this.current = line;
    if (this.lines.folded[entry]) return this.unfold(line);
    const row = half.side.rows[line] ?? -1;
    if (row >= 0) this.selection.select(half.side.info.kind, row);
    this.onMove();
    this.paint();
  }

  private unfold(line: number): void {
    this.open.add(line);
    this.lines = linesOf(this.diff, this.open);
    this.rebuild();
    this.onMove();
  }

  private pointed(half: Half, event: PointerEvent): void {
    const entry = half.list.keyOf(event.target);
    const row = entry < 0 || this.lines.folded[entry] ? -1 : (half.side.rows[this.lines.line[entry] ?? 0] ?? -1);
    const { kind } = half.side.info;
    this.selection.set({ hover: row < 0 ? null : { doc: kind, row, from: kind } });
  }

  private pressed(half: Half, event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(half.list.geometry.viewport / half.list.rowHeight) - 2);
    const entry = entryOf(this.lines, this.current);
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.moveBy(1),
      ArrowUp: () => this.moveBy(-1),
      PageDown: () => this.moveBy(page),
      PageUp: () => this.moveBy(-page),
      Home: () => this.moveBy(-Infinity),
      End: () => this.moveBy(Infinity),
      Enter: () => this.act(half, entry),
      " ": () => this.act(half, entry),
      n: () => this.step(1),
      p: () => this.step(-1),
      h: () => this.follow(half),
    };
    const action = keys[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }

  private follow(half: Half): void {
    const line = this.current;
    const mine = half.side.rows[line] ?? -1;
    const [kind, row] = mine >= 0 ? [half.side.info.kind, mine] : [half.other.info.kind, half.other.rows[line] ?? -1];
    if (row >= 0) this.onFollow(kind, row);
  }

  private moveBy(by: number): void {
    const entry = entryOf(this.lines, this.current) + by;
    const last = this.lines.line.length - 1;
    this.moveTo(this.lines.line[Math.max(0, Math.min(entry, last))] ?? 0);
  }

  /** To the next or previous run of changes. */
  step(by: 1 | -1): void {
    const { line, changes } = this.lines;
    const now = entryOf(this.lines, this.current);
    const next = by > 0 ? changes.find((entry) => entry > now) : changes.findLast((entry) => entry < now);
    const target = next ?? (by > 0 ? changes[0] : changes.at(-1));
    if (target !== undefined) this.moveTo(line[target] ?? 0, true);
  }

  /** Shows a row of one side, and selects it. */
  reveal(kind: string, row: number): void {
    const half = this.halves.find((h) => h.side.info.kind === kind);
    const line = half?.side.rows.indexOf(row) ?? -1;
    if (!half || line < 0) return;
    const entry = entryOf(this.lines, line);
    if (this.lines.folded[entry]) this.unfold(this.lines.line[entry] ?? 0);
    this.moveTo(line, true);
    this.selection.select(kind, row);
  }

  private moveTo(line: number, center = false): void {
    this.current = line;
    const [{ list }] = this.halves;
    const { rowHeight, viewport } = list.geometry;
    const [top, offset] = [entryOf(this.lines, line) * rowHeight, list.offset];
    if (center || top < offset || top + rowHeight > offset + viewport) {
      const wanted = center || top < offset ? top - (center ? viewport / 3 : 0) : top + rowHeight - viewport;
      for (const half of this.halves) half.list.scrollTo(wanted);
    }
    this.draw();
    this.onMove();
  }
}
