/** What keys and clicks do in a pane of code. */

import { isOwnKey } from "./ownKeys";
import type { CodePane } from "./codePane";
import * as actions from "../model/actions";
import { nameOn } from "./rowContent";

const page = (pane: CodePane): number => {
  const { viewport, rowHeight } = pane.geometry;
  return Math.max(1, Math.floor(viewport / rowHeight) - 2);
};

function step(pane: CodePane, by: number): void {
  const { folds, current } = pane.doc;
  const index = Math.max(0, Math.min(folds.indexOf(current) + by, folds.visible - 1));
  pane.moveTo(folds.rowAt(index), "nearest");
  pane.selection.set({ hover: { doc: pane.doc.kind, row: pane.doc.current, from: pane.doc.kind } });
}

function pick(pane: CodePane, row: number): void {
  pane.doc.current = row;
  if (pane.doc.isLeftOut(row)) void actions.showWhole(pane.documents, pane.selection, pane.doc, row);
  else pane.selection.select(pane.doc.kind, row);
}

function fold(pane: CodePane, row: number): void {
  const { folds } = pane.doc;
  const header = folds.canFold(row) ? row : folds.parent(row);
  if (header < 0) return;
  pane.doc.current = header;
  folds.toggle(header);
  pane.doc.changed();
  pane.moveTo(header, "nearest");
}

function leftwards(pane: CodePane): void {
  const { folds, current } = pane.doc;
  if (folds.canFold(current) && !folds.isFolded(current)) fold(pane, current);
  else if (folds.parent(current) >= 0) pane.moveTo(folds.parent(current), "nearest");
}

function rightwards(pane: CodePane): void {
  const { folds, current } = pane.doc;
  if (folds.isFolded(current)) fold(pane, current);
  else step(pane, 1);
}

async function goToName(pane: CodePane): Promise<void> {
  const found = nameOn(pane.doc, pane.doc.current);
  if (found) await actions.goToDefinition(pane.selection, pane.doc, found.name, pane.doc.current, found.global);
}

const KEYS: Record<string, (pane: CodePane) => void> = {
  ArrowDown: (pane) => step(pane, 1),
  ArrowUp: (pane) => step(pane, -1),
  PageDown: (pane) => step(pane, page(pane)),
  PageUp: (pane) => step(pane, -page(pane)),
  Home: (pane) => step(pane, -Infinity),
  End: (pane) => step(pane, Infinity),
  ArrowLeft: leftwards,
  ArrowRight: rightwards,
  Enter: (pane) => pick(pane, pane.doc.current),
  " ": (pane) => pick(pane, pane.doc.current),
  f: (pane) => fold(pane, pane.doc.current),
  F: (pane) => actions.foldAll(pane.doc),
  n: (pane) => pane.revealLit(1),
  p: (pane) => pane.revealLit(-1),
  d: (pane) => void goToName(pane),
  h: (pane) => pane.selection.follow(pane.doc.kind, pane.doc.current),
  c: (pane) => void actions.copyLine(pane.selection, pane.doc),
  C: (pane) => void actions.copyAll(pane.selection, pane.doc),
};

export function attachKeys(pane: CodePane): void {
  pane.list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = KEYS[event.key];
    if (!action || !isOwnKey(event)) return;
    action(pane);
    event.preventDefault();
    event.stopPropagation();
  });
}

export function attachClicks(pane: CodePane): void {
  pane.list.addEventListener("click", (event) => {
    const row = pane.rowOf(event.target);
    const target = event.target as HTMLElement;
    if (row < 0 || hasSelectedText(pane)) return;
    if (target.closest(".jxs-fold, .jxs-folded")) fold(pane, row);
    else if (!follows(pane, event, target, row)) pick(pane, row);
  });
}

/** A computation is followed by a plain click, to or from where it is defined; any other name with Ctrl or Cmd. */
function follows(pane: CodePane, event: MouseEvent, target: HTMLElement, row: number): boolean {
  const { name } = target.dataset;
  const isRef = target.classList.contains("jxs-t-ref");
  const isDef = target.classList.contains("jxs-t-def");
  if (name === undefined || !(isRef || event.ctrlKey || event.metaKey)) return false;
  pane.doc.current = row;
  const go = isDef ? actions.goToUse : actions.goToDefinition;
  void go(pane.selection, pane.doc, name, row, isRef);
  return true;
}

/** A drag that selected text was no click. */
function hasSelectedText(pane: CodePane): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && pane.list.contains(selection.anchorNode);
}
