/** Brings a line of an open source into view, no further than needed. */

import { EditorView } from "@codemirror/view";
import type { OpenSource } from "./editors";

const MARGIN_PX = 24;

export async function reveal({ notebook, cell, view }: OpenSource, line: number): Promise<void> {
  if (notebook && cell && !(view && cell.node.isConnected)) {
    await notebook.content.scrollToItem(notebook.content.widgets.indexOf(cell), "auto");
    await cell.ready;
  }
  const editor = view ?? (cell?.editor as { editor?: EditorView } | null)?.editor;
  if (!editor?.dom.isConnected || line < 1 || line > editor.state.doc.lines) return;
  const { from } = editor.state.doc.line(line);
  editor.dispatch({ effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: MARGIN_PX }) });
}
