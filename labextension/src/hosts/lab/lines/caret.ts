/** The caret in a cell or file selects its line in the panels of that notebook. */

import type { EditorView } from "@codemirror/view";
import { selectLine, sourceDocument } from "../../../model/sourceLines";
import type { Session } from "../../../model/session";
import type { Editors } from "./editors";
import { notebooksOf } from "./homes";

const REST_MS = 120;

export class Caret {
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a selection is made now because the caret moved. */
  isSelecting = false;

  constructor(
    private editors: Editors,
    private sessions: () => Session[],
  ) {}

  /** Selects the line when the caret rests there. */
  moved(view: EditorView, line: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rested(view, line), REST_MS);
  }

  /** The user types: where the caret was is nothing to show. */
  cancel(): void {
    clearTimeout(this.timer);
  }

  private rested(view: EditorView, line: number): void {
    if (!view.hasFocus) return;
    const notebook = this.editors.cellOf(view)?.notebook;
    const open = this.editors.openNotebooks;
    const linked = this.sessions().filter((session) => !notebook || notebooksOf(session, open).includes(notebook));
    for (const session of linked) void this.select(session, view, line);
  }

  private async select({ documents, selection }: Session, view: EditorView, line: number): Promise<void> {
    if (!documents.frames() && !(await sourceDocument(documents))) return;
    const file = this.editors.fileIn(view, documents.frames()?.files ?? []);
    if (file < 0) return;
    this.isSelecting = true;
    try {
      selectLine(documents, selection, file, line);
    } finally {
      this.isSelecting = false;
    }
  }
}
