/** The side panel and what its rows do; loaded when it is first shown. */

import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { IInspectionTabs, IKernelLinks } from "../tokens";
import { drawSide } from "./drawing";
import { followedNotebooks } from "./followed";
import { Inspections } from "./inspections";
import type { ListActions } from "./list";

/** Scrolls to a cell and makes it the active one. Throws an Error of one line where it is not there. */
async function goToCell(notebook: NotebookPanel | null, id: string | null): Promise<void> {
  const cells = notebook?.content;
  const at = cells?.widgets.findIndex(({ model }) => model.id === id) ?? -1;
  if (!cells || at < 0) throw new Error("Its cell is not in this notebook any more.");
  cells.activeCellIndex = at;
  await cells.scrollToItem(at, "smart");
}

/** Draws it into an element; what is returned is to be told when that is shown and when it is hidden. */
export function drawSidePanel(
  host: HTMLElement,
  tracker: INotebookTracker,
  links: IKernelLinks,
  tabs: IInspectionTabs,
): (isVisible: boolean) => void {
  const inspections = new Inspections(followedNotebooks(tracker, links));
  const attempt = (act: () => Promise<unknown>) => void inspections.attempt(act);
  const actions: ListActions = {
    open: (one) => attempt(async () => tracker.currentWidget && tabs.open(tracker.currentWidget, one)),
    free: (one) => attempt(() => inspections.free(one)),
    goToCell: (one) => attempt(async () => goToCell(tracker.currentWidget, one.cell)),
    compare: (one, other) => attempt(async () => tracker.currentWidget && tabs.compare(tracker.currentWidget, one, other)),
  };
  drawSide(host, inspections, actions);
  return (isVisible) => inspections.setVisible(isVisible);
}
