/** A notebook saves our displays without the widget, which no later reader has: also those made before the kernel knew of us. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import type { ICodeCellModel } from "@jupyterlab/cells";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { PAYLOAD_TYPE } from "../../../wire/payload";
import { WIDGET_VIEW } from "./kernelModels";

type Outputs = ICodeCellModel["outputs"];

function leaveOut(outputs: Outputs): void {
  for (let at = 0; at < outputs.length; at++) {
    const { data } = outputs.get(at);
    if (!(PAYLOAD_TYPE in data && WIDGET_VIEW in data)) continue;
    const output = outputs.get(at).toJSON();
    const { [WIDGET_VIEW]: _, ...others } = data;
    outputs.set(at, { ...output, data: others } as typeof output);
  }
}

function watch({ context, content }: NotebookPanel): void {
  context.saveState.connect((_, state) => {
    if (state !== "started") return;
    for (const cell of content.model?.cells ?? []) if (cell.type === "code") leaveOut((cell as ICodeCellModel).outputs);
  });
}

export const savedWidgets: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:saved-widgets",
  description: "Saves panels without the widget that only their kernel has.",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app: JupyterFrontEnd, notebooks: INotebookTracker) => {
    notebooks.forEach(watch);
    notebooks.widgetAdded.connect((_, notebook) => watch(notebook));
  },
};
