/** The call that the user means in a cell: at the caret, in the selection, or under the pointer. */

import type { Cell, CodeCell } from "@jupyterlab/cells";
import { CodeMirrorEditor } from "@jupyterlab/codemirror";
import type { Notebook } from "@jupyterlab/notebook";
import { ensureSyntaxTree } from "@codemirror/language";
import { callAt } from "./callAtCaret";

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
