/** A command for what stands beside the lines of a notebook's panels and cells. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { INotebookTracker } from "@jupyterlab/notebook";
import { MOUNTED } from "../../../model/mounted";
import type { Session } from "../../../model/session";
import { notebooksOf } from "./homes";

const GUTTER_COMMAND = "jaxstage:gutter";
const MEASURE = {
  type: "string",
  description: 'What to show: "FLOPs", "bytes", "time", "sharding" or "dtypes", or "" for nothing; without it the next one.',
};

function sessionsOf(notebooks: INotebookTracker): Session[] {
  const { currentWidget } = notebooks;
  const sessions = [...new Set(MOUNTED.list.map(({ session }) => session))];
  return currentWidget ? sessions.filter((session) => notebooksOf(session, [currentWidget]).length) : [];
}

export const gutterCommand: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:gutter",
  description: "A command that annotates the lines of cells and panels.",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: ({ commands }: JupyterFrontEnd, notebooks: INotebookTracker, palette: ICommandPalette | null): void => {
    commands.addCommand(GUTTER_COMMAND, {
      label: "Annotate Lines with the Next Measure",
      caption: "Show beside the lines of cells and panels their share of FLOPs or bytes, their measured time, shardings or dtypes",
      describedBy: { args: { type: "object", properties: { measure: MEASURE } } },
      isEnabled: () => sessionsOf(notebooks).length > 0,
      execute: async ({ measure }) => {
        const { nextMargin, showMargin } = await import("./margins");
        if (typeof measure === "string") showMargin(sessionsOf(notebooks), measure);
        else nextMargin(sessionsOf(notebooks));
      },
    });
    palette?.addItem({ command: GUTTER_COMMAND, category: "JAXStage" });
  },
};
