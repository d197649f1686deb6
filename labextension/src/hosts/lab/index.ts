/** The JupyterLab extension: one plugin a feature. */

import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { cellMarks } from "./lines/cellMarks";
import { gutterCommand } from "./lines/gutterCommand";
import { inspectCall } from "./inspect/inspectCall";
import { inspectCell } from "./inspect/inspectCell";
import { inspectionTabs } from "./side/inspectionTabs";
import { links } from "./kernel/links";
import { magicLine } from "./inspect/magicLine";
import { offered } from "./output/offered";
import { preferences } from "./settings/preferences";
import { renderer } from "./output/renderer";
import { savedWidgets } from "./output/savedWidgets";
import { sidePanel } from "./side/sidePanel";

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  links,
  preferences,
  cellMarks,
  gutterCommand,
  inspectCall,
  inspectCell,
  inspectionTabs,
  magicLine,
  offered,
  renderer,
  savedWidgets,
  sidePanel,
];

export default plugins;
