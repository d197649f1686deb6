/** Draws what a notebook saved of a panel, and the live panel in its place where its kernel still has it. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { PAYLOAD_TYPE } from "../../../wire/payload";
import { PanelOutput } from "./panelOutput";

/** Before the widget's renderer (-10), which can only draw a live one. */
const RANK = -20;

export const renderer: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:renderer",
  description: "Draws saved panels, and live ones in their place.",
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (_app: JupyterFrontEnd, rendermime: IRenderMimeRegistry) => {
    const createRenderer = () => new PanelOutput();
    rendermime.addFactory({ safe: true, mimeTypes: [PAYLOAD_TYPE], defaultRank: RANK, createRenderer });
  },
};
