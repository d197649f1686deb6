/** Tabs beside a notebook: the live panel of an inspection, and two inspections compared. */

import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { type MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { SplitPanel, TabPanel, type Widget } from "@lumino/widgets";
import { placeBeside } from "../lines/homes";
import type { InspectionTab, TabArgs } from "./inspectionTab";
import { IInspectionTabs, IKernelLinks } from "../tokens";

const RESTORE = "jaxstage:restore-tab";
/** Of the window's height. */
const [LEAST_BELOW, BELOW] = [0.2, 0.5];

/** The notebook of that path, once it is open. */
async function notebookAt(tracker: INotebookTracker, path: string): Promise<NotebookPanel> {
  const known = tracker.find((notebook) => notebook.context.path === path);
  if (known) return known;
  return new Promise((resolve) => {
    const added = (_: unknown, notebook: NotebookPanel) => {
      if (notebook.context.path !== path) return;
      tracker.widgetAdded.disconnect(added);
      resolve(notebook);
    };
    tracker.widgetAdded.connect(added);
  });
}

/** Notebook 7 shows one document; all else is below it, in an area that takes no height by itself. */
function showBelow(tab: Widget): void {
  for (let at: Widget | null = tab.parent; at; at = at.parent) {
    if (at instanceof TabPanel) at.currentWidget = tab;
    if (!(at instanceof SplitPanel) || at.orientation !== "vertical") continue;
    const sizes = at.relativeSizes();
    if ((sizes.at(-1) ?? 1) < LEAST_BELOW) at.setRelativeSizes([...sizes.slice(0, -1).map(() => 1 - BELOW), BELOW]);
    return;
  }
}

export const inspectionTabs: JupyterFrontEndPlugin<IInspectionTabs> = {
  id: "jaxstage:inspection-tabs",
  description: "Shows inspections in tabs beside their notebook.",
  autoStart: true,
  provides: IInspectionTabs,
  requires: [INotebookTracker, IKernelLinks],
  optional: [ILabShell, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    links: IKernelLinks,
    lab: ILabShell | null,
    restorer: ILayoutRestorer | null,
  ): IInspectionTabs => {
    const tracker = new WidgetTracker<MainAreaWidget<InspectionTab>>({ namespace: "jaxstage-tabs" });
    const place = (tab: MainAreaWidget<InspectionTab>, notebook: NotebookPanel | null) => {
      void tracker.add(tab);
      tab.content.title.changed.connect(() => void tracker.save(tab));
      if (!lab) app.shell.add(tab, "down");
      else if (notebook) app.shell.add(tab, "main", { ...placeBeside(app.shell, notebook), activate: false });
      else app.shell.add(tab, "main", { activate: false });
    };
    const tabOf = async (args: TabArgs, notebook: NotebookPanel | null) => {
      const { keyOf, newTab } = await import("./inspectionTab");
      const known = tracker.find((tab) => tab.id === keyOf(args));
      if (known) return known;
      const tab = newTab(args, notebook ? Promise.resolve(notebook) : notebookAt(notebooks, args.path), links);
      place(tab, notebook);
      return tab;
    };
    const show = async (notebook: NotebookPanel, args: TabArgs) => {
      const tab = await tabOf(args, notebook);
      app.shell.activateById(tab.id);
      if (!lab) showBelow(tab);
    };
    // JupyterLab waits for it before it lays out its tabs, so it waits for no notebook and no kernel
    app.commands.addCommand(RESTORE, {
      label: "Restore a JAXStage tab",
      execute: async (args) => void (await tabOf(args as unknown as TabArgs, null)),
    });
    if (restorer) {
      void restorer.restore(tracker, { command: RESTORE, args: ({ content }) => ({ ...content.args }), name: ({ id }) => id });
    }
    return {
      open: (notebook, { id, made }) => show(notebook, { path: notebook.context.path, id, made }),
      compare: (notebook, { id, made }, after) =>
        show(notebook, { path: notebook.context.path, id, made, other: after.id, otherMade: after.made }),
    };
  },
};
