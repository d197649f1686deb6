/** Links the panels on the page with the editors around them. */

import type { Session } from "../../../model/session";
import { Caret } from "./caret";
import { CellMarker } from "./cellMarker";
import type { Editors, OpenSource } from "./editors";
import { Gutters } from "./gutters";
import type { EditorEvents } from "./lineMarks";
import { addStyle } from "./markStyle";
import { newPanelMargins } from "./margins";
import { ShownSessions } from "./shownSessions";
import type { IPreferences } from "../tokens";
import { EditorView } from "@codemirror/view";
import { MOUNTED, type Mounted } from "../../../model/mounted";

const RECENT_MS = 1000;
const EVENTS = ["pointerdown", "pointerup"];
const SOURCE_CODE = '[data-doc="python"], [data-doc^="python:"], .jxs-link';

/**
 * Whether the user has just clicked on source in a panel: a line of the source pane, or the name of a place. Only then may
 * the notebook scroll, for it takes the panel from under the pointer.
 */
class Gestures {
  private last = new WeakMap<Session, number>();
  private heard = new WeakSet<HTMLElement>();

  constructor() {
    for (const mounted of MOUNTED.list) this.listen(mounted);
    MOUNTED.onChange((mounted, isThere) => isThere && this.listen(mounted));
  }

  isRecent(session: Session): boolean {
    return performance.now() - (this.last.get(session) ?? -Infinity) < RECENT_MS;
  }

  private listen({ session, root }: Mounted): void {
    if (this.heard.has(root)) return;
    this.heard.add(root);
    const clicked = ({ target }: Event) => {
      if (target instanceof Element && target.closest(SOURCE_CODE)) this.last.set(session, performance.now());
    };
    for (const name of EVENTS) root.addEventListener(name, clicked, { capture: true, passive: true });
  }
}

const MARGIN_PX = 24;

/** Brings a line of an open source into view, no further than needed. */
async function reveal({ notebook, cell, view }: OpenSource, line: number): Promise<void> {
  if (notebook && cell && !(view && cell.node.isConnected)) {
    await notebook.content.scrollToItem(notebook.content.widgets.indexOf(cell), "auto");
    await cell.ready;
  }
  const editor = view ?? (cell?.editor as { editor?: EditorView } | null)?.editor;
  if (!editor?.dom.isConnected || line < 1 || line > editor.state.doc.lines) return;
  const { from } = editor.state.doc.line(line);
  editor.dispatch({ effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: MARGIN_PX }) });
}

const SETTLE_MS = 150;

/** Calls back once, when calls have stopped for a while. */
function settled(callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(callback, SETTLE_MS);
  };
}

export function linkEditors(editors: Editors, preferences: IPreferences | null): EditorEvents {
  addStyle();
  const gestures = new Gestures();
  const sessions = (): Session[] => shown.list;
  const marker = new CellMarker(editors, () => (preferences?.get().marks === false ? [] : sessions()));
  const gutters = new Gutters(editors, sessions);
  const caret = new Caret(editors, () => (preferences?.get().caret === false ? [] : sessions()));
  const refresh = () => {
    if (preferences) newPanelMargins(sessions(), preferences.get().gutter);
    marker.refresh();
    gutters.refresh();
  };
  const selected = (session: Session) => {
    const found = caret.isSelecting || !gestures.isRecent(session) ? null : marker.selectedSource(session);
    if (found) void reveal(found.source, found.line);
  };
  const shown = new ShownSessions({ pointed: () => marker.refresh(), changed: settled(refresh), selected });
  shown.begin();
  preferences?.onChange(refresh);
  return editorEvents(marker, gutters, caret, settled(refresh));
}

function editorEvents(marker: CellMarker, gutters: Gutters, caret: Caret, later: () => void): EditorEvents {
  return {
    opened: later,
    closed: (view) => {
      marker.forget(view);
      gutters.closed(view);
    },
    edited: (view) => {
      caret.cancel();
      marker.forget(view);
      gutters.edited(view);
      later();
    },
    caretMoved: (view, line) => caret.moved(view, line),
  };
}
