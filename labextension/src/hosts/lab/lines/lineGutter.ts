/** A column beside the lines of a CodeMirror editor: a bar and a figure a line. It is empty from an edit on. */

import { Compartment, type Extension } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter } from "@codemirror/view";
import type { MarginLine } from "../../../model/margin";

const slot = new Compartment();

/** Where the column comes in; it takes no room until it is shown. */
export const lineGutter: Extension = slot.of([]);

/** Shows these lines' column, or none for no lines. */
export function showGutter(view: EditorView, lines: MarginLine[]): void {
  view.dispatch({ effects: slot.reconfigure(lines.length ? column(view, lines) : []) });
}

class Figure extends GutterMarker {
  constructor(private line: MarginLine) {
    super();
  }

  override eq(other: Figure): boolean {
    return JSON.stringify(other.line) === JSON.stringify(this.line);
  }

  override toDOM(): Node {
    const { share, text, title } = this.line;
    const node = document.createElement("span");
    node.className = "jaxstage-figure";
    node.title = title;
    node.append(text);
    if (share !== null && share > 0) node.append(bar(share));
    return node;
  }
}

function bar(share: number): HTMLElement {
  const node = document.createElement("i");
  node.style.width = `${Math.max(3, 100 * share)}%`;
  return node;
}

function column(shownIn: EditorView, lines: MarginLine[]): Extension {
  const text = shownIn.state.doc;
  const figures = new Map(lines.map((line) => [line.line, new Figure(line)]));
  return gutter({
    class: "jaxstage-gutter",
    lineMarker: ({ state }, block) => (state.doc === text ? (figures.get(state.doc.lineAt(block.from).number) ?? null) : null),
    lineMarkerChange: ({ docChanged }) => docChanged,
  });
}
