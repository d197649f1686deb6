/** Inspecting the active code cell: a button in its toolbar, menus, the command palette, keys. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { INotebookTracker } from "@jupyterlab/notebook";
import { caretDownIcon } from "@jupyterlab/ui-components";
import { STAGES, type StageName } from "./cellCode";
import { chooseStage } from "./chooseStage";
import { jaxstageIcon } from "../icon";
import { Inspector, saying } from "./inspector";
import { IKernelLinks, IPreferences } from "../tokens";

const CATEGORY = "JAXStage";
/** In the toolbar of a cell. */
const BUTTONS = ["jaxstage:inspect", "jaxstage:choose"];
const title = (stage: StageName) => `${stage[0]?.toUpperCase()}${stage.slice(1)}`;

const CAPTIONS: Record<StageName, string> = {
  trace: "Show the jaxpr of the call on the cell's last line",
  lower: "Show the jaxpr and the StableHLO of the call on the cell's last line",
  compile: "Show every stage up to the optimised HLO of the call on the cell's last line",
  profile: "Run the cell's last statement under the profiler and show its timeline",
};

function addCommands({ commands }: JupyterFrontEnd, inspector: Inspector): string[] {
  const isEnabled = () => inspector.place !== null;
  const isVisible = () => inspector.isVisible;
  for (const stage of STAGES) {
    const execute = () => saying(() => inspector.inspect(stage));
    commands.addCommand(`jaxstage:${stage}`, { label: `${title(stage)} Cell`, caption: CAPTIONS[stage], isEnabled, execute });
  }
  commands.addCommand("jaxstage:inspect", {
    label: "",
    caption: () => `${title(inspector.stage)} cell with the last target and options`,
    icon: jaxstageIcon,
    isVisible,
    execute: () => saying(() => inspector.inspect(inspector.stage)),
  });
  commands.addCommand("jaxstage:choose", {
    label: (args) => (args.toolbar ? "" : "Inspect Cell with…"),
    caption: "Choose a stage, a target and options for this cell",
    icon: (args) => (args.toolbar ? caretDownIcon : undefined),
    isVisible: (args) => !args.toolbar || inspector.isVisible,
    execute: () => saying(() => inspector.inspect(inspector.stage, (place, ready) => chooseStage(inspector, place, ready))),
  });
  return [...STAGES.map((stage) => `jaxstage:${stage}`), "jaxstage:choose"];
}

export const inspectCell: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:inspect-cell",
  description: "Traces, lowers, compiles and profiles the active cell.",
  autoStart: true,
  requires: [INotebookTracker, IKernelLinks, IPreferences],
  optional: [ICommandPalette],
  activate: (app, notebooks: INotebookTracker, links: IKernelLinks, preferences: IPreferences, palette: ICommandPalette | null) => {
    const inspector = new Inspector(notebooks, links, preferences);
    for (const command of addCommands(app, inspector)) palette?.addItem({ command, category: CATEGORY });
    const changed = () => BUTTONS.forEach((command) => app.commands.notifyCommandChanged(command));
    preferences.onChange(changed);
    notebooks.activeCellChanged.connect(changed);
    notebooks.currentChanged.connect((_, panel) => {
      changed();
      panel?.sessionContext.kernelChanged.connect(changed);
    });
  },
};
