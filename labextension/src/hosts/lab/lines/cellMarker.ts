/** Keeps the marks of all editors to what the sessions on the page point at. */

import type { EditorView } from "@codemirror/view";
import { type LitLines, litLines } from "../../../model/sourceLines";
import type { Session } from "../../../model/session";
import type { Editors, OpenSource } from "./editors";
import { notebooksOf } from "./homes";
import { type LineMark, showMarks } from "./lineMarks";

const markOf = ({ first, last, hue, by, isDirect }: LitLines): LineMark => ({ first, last, hue, kind: isDirect ? by : "called" });

export class CellMarker {
  /** The marks that editors show. */
  private shown = new Map<EditorView, string>();

  constructor(
    private editors: Editors,
    private sessions: () => Session[],
  ) {}

  refresh(): void {
    const wanted = this.wanted();
    for (const view of [...this.shown.keys()]) if (!wanted.has(view)) this.show(view, []);
    for (const [view, marks] of wanted) this.show(view, marks);
  }

  /** An edit has taken an editor's marks away, or it is closed. */
  forget(view: EditorView): void {
    this.shown.delete(view);
  }

  /** Where the first line that a session's selection stands for is open. */
  selectedSource(session: Session): { source: OpenSource; line: number } | null {
    for (const lines of litLines(session.documents, session.selection).filter(({ by, isDirect }) => by === "selected" && isDirect)) {
      const source = this.sources(session, lines)[0];
      if (source) return { source, line: lines.first };
    }
    return null;
  }

  private wanted(): Map<EditorView, LineMark[]> {
    const all = new Map<EditorView, LineMark[]>();
    for (const session of this.sessions()) {
      for (const lines of litLines(session.documents, session.selection)) {
        for (const { view } of this.sources(session, lines)) {
          if (view) all.set(view, [...(all.get(view) ?? []), markOf(lines)]);
        }
      }
    }
    return all;
  }

  private sources(session: Session, { file }: LitLines): OpenSource[] {
    const source = session.documents.frames()?.files[file];
    return source ? this.editors.of(source, notebooksOf(session, this.editors.openNotebooks)) : [];
  }

  private show(view: EditorView, marks: LineMark[]): void {
    const signature = marks.length ? JSON.stringify(marks) : undefined;
    if (this.shown.get(view) === signature) return;
    if (signature) this.shown.set(view, signature);
    else this.shown.delete(view);
    showMarks(view, marks);
  }
}
