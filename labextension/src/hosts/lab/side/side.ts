/** The side panel and what its rows do; loaded when it is first shown. */

import type { INotebookTracker } from "@jupyterlab/notebook";
import type { IInspectionTabs, IKernelLinks } from "../tokens";
import { goToCell } from "./cells";
import { drawSide } from "./drawing";
import { followedNotebooks } from "./followed";
import { Inspections } from "./inspections";
import type { ListActions } from "./list";

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
