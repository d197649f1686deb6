/** What the JupyterLab extension would add, in Jupyter pages where the panel is drawn without it. */

import { BUILD } from "jaxstage:build";
import { offered } from "../wire/panelModule";

const MISSING = "With the JupyterLab extension (comes with pip install jaxstage-ext, reload the page) lines light up in the cells.";
const OTHER = "The JupyterLab extension is of another version of JAXStage: update jaxstage-ext beside JupyterLab, reload the page, and lines light up in the cells.";

/** JupyterLab and Notebook 7 have it in their pages; other hosts know no such extension. */
const isJupyter = (): boolean => document.getElementById("jupyter-config-data") !== null;

export function MissingExtension() {
  const extension = offered();
  if (!isJupyter() || extension?.version === BUILD) return null;
  return <p class="jxs-extension jxs-dim">{extension ? OTHER : MISSING}</p>;
}
