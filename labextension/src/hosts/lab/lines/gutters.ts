/** Keeps the column beside the lines of cells and files to what the panels of the page show beside theirs. */

import type { EditorView } from "@codemirror/view";
import { type MarginLine, askMargin, marginLines, offeredMargins } from "../../../model/margin";
import type { Session } from "../../../model/session";
import type { Editors } from "./editors";
import { notebooksOf } from "./homes";
import { showGutter } from "./lineGutter";

export class Gutters {
  private shown = new Map<EditorView, string>();
  private asking = new Map<Session, { key: string; end: () => void }>();

  constructor(
    private editors: Editors,
    private sessions: () => Session[],
  ) {}

  refresh(): void {
    const sessions = this.sessions();
    for (const session of new Set([...this.asking.keys(), ...sessions])) this.ask(session, sessions.includes(session));
    const wanted = this.wanted();
    for (const view of [...this.shown.keys()]) if (!wanted.has(view)) this.show(view, []);
    for (const [view, lines] of wanted) this.show(view, lines);
  }

  /** An edit has emptied an editor's column. */
  edited(view: EditorView): void {
    if (this.shown.has(view)) this.shown.set(view, "");
  }

  closed(view: EditorView): void {
    this.shown.delete(view);
  }

  /** Where no view of the panel waits for what was chosen this does. */
  private ask(session: Session, isShown: boolean): void {
    const { measure, heat, lane } = session.selection.get();
    const isNeeded = isShown && !heat && !lane && offeredMargins(session.selection).includes(measure);
    const key = isNeeded ? `${session.selection.call} ${measure}` : "";
    const before = this.asking.get(session);
    if ((before?.key ?? "") === key) return;
    before?.end();
    this.asking.delete(session);
    if (key) this.asking.set(session, { key, end: askMargin(session.selection, session.questions) });
  }

  /** Where panels differ about a cell the one drawn last counts. */
  private wanted(): Map<EditorView, MarginLine[]> {
    const all = new Map<EditorView, MarginLine[]>();
    for (const session of this.sessions()) {
      const { heat, lane } = session.selection.get();
      if (!heat && !lane) continue;
      session.documents.frames()?.files.forEach((source, file) => {
        const open = source.user ? this.editors.of(source, notebooksOf(session, this.editors.openNotebooks)) : [];
        const lines = open.length ? marginLines(session.documents, session.selection, file) : [];
        for (const { view } of open) if (view && lines.length) all.set(view, lines);
      });
    }
    return all;
  }

  private show(view: EditorView, lines: MarginLine[]): void {
    const signature = lines.length ? JSON.stringify(lines) : undefined;
    if (this.shown.get(view) === signature) return;
    if (signature) this.shown.set(view, signature);
    else this.shown.delete(view);
    showGutter(view, lines);
  }
}
