/** Marked lines in a CodeMirror editor; an edit takes all marks away at once. */

import { type Extension, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

/** Lines from 1, both ends included; `called` where a function that the line calls made what is lit. */
export interface LineMark {
  first: number;
  last: number;
  hue: number | null;
  kind: "called" | "selected" | "hover";
}

/** What an editor tells of itself. */
export interface EditorEvents {
  opened(view: EditorView): void;
  closed(view: EditorView): void;
  /** Its marks are gone by then. */
  edited(view: EditorView): void;
  /** The user has moved the caret to a line, from 1, without changing the text. */
  caretMoved(view: EditorView, line: number): void;
}

const KINDS = ["called", "selected", "hover"] as const;
const setMarks = StateEffect.define<LineMark[]>();

export const showMarks = (view: EditorView, marks: LineMark[]): void => view.dispatch({ effects: setMarks.of(marks) });

/** One mark a line: that of the last kind it has. */
function decorations(text: Text, marks: LineMark[]): DecorationSet {
  const lines = new Map<number, LineMark>();
  for (const kind of KINDS) {
    for (const mark of marks.filter((one) => one.kind === kind)) {
      for (let line = Math.max(1, mark.first); line <= Math.min(mark.last, text.lines); line++) lines.set(line, mark);
    }
  }
  return Decoration.set([...lines].map(([line, mark]) => Decoration.line({ class: classOf(mark) }).range(text.line(line).from)), true);
}

const classOf = ({ kind, hue }: LineMark): string => `jaxstage-line jaxstage-${kind} jaxstage-hue-${hue ?? "none"}`;

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marked, { docChanged, effects, state }) {
    const given = effects.find((effect) => effect.is(setMarks));
    if (given) return decorations(state.doc, given.value as LineMark[]);
    return docChanged ? Decoration.none : marked;
  },
  provide: (own) => EditorView.decorations.from(own),
});

const isMove = (update: ViewUpdate): boolean =>
  update.selectionSet && !update.docChanged && update.transactions.some((change) => change.isUserEvent("select"));

const watcher = (events: EditorEvents): Extension =>
  ViewPlugin.define((view) => {
    events.opened(view);
    return {
      update: (update) => {
        const { doc, selection } = update.state;
        if (update.docChanged) events.edited(view);
        else if (isMove(update)) events.caretMoved(view, doc.lineAt(selection.main.head).number);
      },
      destroy: () => events.closed(view),
    };
  });

export const lineMarks = (events: EditorEvents): Extension => [field, watcher(events)];
