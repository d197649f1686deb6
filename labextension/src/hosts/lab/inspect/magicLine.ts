/** The line of a stage's magic at the start of a cell: one quiet colour, not read as Python. */

import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { type EditorState, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { cellMagic, isStage } from "./cellCode";

/** Blank lines that may come before a cell's magic. */
const MOST_BLANK = 20;
const LINE = Decoration.line({ class: "cm-jaxstage-magic" });

function marked({ doc }: EditorState): DecorationSet {
  for (let number = 1; number <= Math.min(doc.lines, MOST_BLANK); number++) {
    const { from, text } = doc.line(number);
    if (!text.trim()) continue;
    return isStage(cellMagic(text)) ? Decoration.set(LINE.range(from)) : Decoration.none;
  }
  return Decoration.none;
}

const magic = StateField.define<DecorationSet>({
  create: marked,
  update: (decorations, change) => (change.docChanged ? marked(change.state) : decorations),
  provide: (field) => EditorView.decorations.from(field),
});

/** Stronger than the colours of the Python that the line is read as. */
const theme = EditorView.baseTheme({
  ".cm-jaxstage-magic, .cm-jaxstage-magic span": {
    color: "color-mix(in srgb, var(--jp-content-font-color0) 64%, transparent) !important",
    fontWeight: "normal !important",
    fontStyle: "normal !important",
    textDecoration: "none !important",
  },
});

export const magicLine: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:magic-line",
  description: "Shows the line of a JAXStage magic at the start of a cell in one colour.",
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app, extensions: IEditorExtensionRegistry) => {
    const factory = () => EditorExtensionRegistry.createImmutableExtension([magic, theme]);
    extensions.addExtension({ name: "jaxstage:magic-line", factory });
  },
};
