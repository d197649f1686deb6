/** Keeps the marks of all editors to what the sessions on the page point at. */

import type { EditorView } from "@codemirror/view";
import { type LitLines, litLines } from "../../../model/sourceLines";
import type { SourceFile } from "../../../model/frames";
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
      const { outside } = session.selection.get();
      for (const lines of litLines(session.documents, session.selection)) this.mark(all, this.sources(session, lines), markOf(lines));
      if (outside) this.mark(all, this.open(session, outside.source), { first: outside.line, last: outside.line, hue: null, kind: "selected" });
    }
    return all;
  }

  private mark(all: Map<EditorView, LineMark[]>, sources: OpenSource[], mark: LineMark): void {
    for (const { view } of sources) if (view) all.set(view, [...(all.get(view) ?? []), mark]);
  }

  private sources(session: Session, { file }: LitLines): OpenSource[] {
    const source = session.documents.frames()?.files[file];
    return source ? this.open(session, source) : [];
  }

  private open(session: Session, source: SourceFile): OpenSource[] {
    return this.editors.of(source, notebooksOf(session, this.editors.openNotebooks));
  }

  private show(view: EditorView, marks: LineMark[]): void {
    const signature = marks.length ? JSON.stringify(marks) : undefined;
    if (this.shown.get(view) === signature) return;
    if (signature) this.shown.set(view, signature);
    else this.shown.delete(view);
    showMarks(view, marks);
  }
}
