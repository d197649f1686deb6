/** The call that the user means in a cell: at the caret, in the selection, or under the pointer. */

import type { Cell, CodeCell } from "@jupyterlab/cells";
import { CodeMirrorEditor } from "@jupyterlab/codemirror";
import type { Notebook } from "@jupyterlab/notebook";
import { ensureSyntaxTree } from "@codemirror/language";
import type { SyntaxNode, Tree } from "@lezer/common";

const CALL = "CallExpression";

interface Span {
  from: number;
  to: number;
}

/** The call around a place, and the whole of it where it only makes the function of a further call, as jax.grad(f)(x). */
function around(tree: Tree, { from, to }: Span): SyntaxNode | null {
  let node: SyntaxNode | null = tree.resolveInner(from, from === to ? -1 : 1);
  const reaches = (outer: SyntaxNode) => outer.name === CALL && outer.from <= from && outer.to >= to;
  while (node && !reaches(node)) node = node.parent;
  if (!node && from === to) {
    node = tree.resolveInner(from, 1);
    while (node && !reaches(node)) node = node.parent;
  }
  return node && called(node);
}

/** The call whose function, or an attribute of it, this call is. */
function called(node: SyntaxNode): SyntaxNode {
  const { parent } = node;
  const isFunction = parent?.name === CALL && parent.from === node.from;
  return isFunction ? called(parent) : node;
}

/** The first of the largest calls within a selection. */
function within(tree: Tree, { from, to }: Span): Span | null {
  let found: Span | null = null;
  tree.iterate({
    from,
    to,
    enter: (node) => {
      if (found) return false;
      if (node.name === CALL && node.from >= from && node.to <= to) found = { from: node.from, to: node.to };
      return !found;
    },
  });
  return found;
}

/** The text of the call at the caret, or in the selection; null where there is none. */
export function callAt(tree: Tree, text: string, { from, to }: Span): string | null {
  const node = (from < to ? within(tree, { from, to }) : null) ?? around(tree, { from, to });
  return node && text.slice(node.from, node.to);
}

const PARSE_MS = 200;

/** Where the context menu was opened last; menus are open before their commands can know. */
let pointer: { x: number; y: number; target: EventTarget | null } | null = null;

export function watchPointer(): void {
  const note = ({ clientX, clientY, target }: MouseEvent) => (pointer = { x: clientX, y: clientY, target });
  document.addEventListener("contextmenu", note, true);
}

/** The cell under the context menu, which need not be the active one. */
export function pointedCell({ widgets }: Notebook): Cell | undefined {
  const target = pointer?.target;
  return target instanceof Node ? widgets.find(({ node }) => node.contains(target)) : undefined;
}

/** The text of the call, or null; `atPointer` for a command of the context menu. */
export function pointedCall(cell: CodeCell, atPointer: boolean): string | null {
  const { editor } = cell;
  if (!(editor instanceof CodeMirrorEditor)) return null;
  const view = editor.editor;
  const { from, to } = view.state.selection.main;
  const under = atPointer && pointer ? view.posAtCoords(pointer) : null;
  const isOutside = under !== null && (from === to || under < from || under > to);
  const tree = ensureSyntaxTree(view.state, view.state.doc.length, PARSE_MS);
  return tree && callAt(tree, view.state.doc.toString(), isOutside ? { from: under, to: under } : { from, to });
}
