/** Marks the lines that panels point at in the cells and files that they came from, and selects the caret's line. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { IEditorTracker } from "@jupyterlab/fileeditor";
import { INotebookTracker } from "@jupyterlab/notebook";
import { MOUNTED } from "../../../model/mounted";
import { Editors } from "./editors";
import { lineGutter } from "./lineGutter";
import { type EditorEvents, lineMarks } from "./lineMarks";
import { IPreferences } from "../tokens";

/** What follows the editors once a panel is on the page; until then there is nothing to mark. */
function whenNeeded(load: () => Promise<EditorEvents>): EditorEvents {
  let loaded: EditorEvents | null = null;
  const end = MOUNTED.onChange(() => {
    end();
    void load().then((events) => (loaded = events));
  });
  return {
    opened: (view) => loaded?.opened(view),
    closed: (view) => loaded?.closed(view),
    edited: (view) => loaded?.edited(view),
    caretMoved: (view, line) => loaded?.caretMoved(view, line),
  };
}

export const cellMarks: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:cell-marks",
  description: "Marks the lines that JAXStage panels point at in their cells and files.",
  autoStart: true,
  requires: [IEditorExtensionRegistry, INotebookTracker],
  optional: [IEditorTracker, IPreferences],
  activate: (
    app: JupyterFrontEnd,
    registry: IEditorExtensionRegistry,
    notebooks: INotebookTracker,
    files: IEditorTracker | null,
    preferences: IPreferences | null,
  ): void => {
    const { contents } = app.serviceManager;
    const editors = new Editors(notebooks, files, (path) => contents.localPath(path));
    const events = whenNeeded(async () => (await import("./linkEditors")).linkEditors(editors, preferences));
    const extension = EditorExtensionRegistry.createImmutableExtension([lineMarks(events), lineGutter]);
    registry.addExtension({ name: "jaxstage:lines", factory: () => extension });
  },
};
