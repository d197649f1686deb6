/** Offers the extension's own build of the panel to the widgets of the page, which fetch it from their kernel otherwise. */

import { BUILD } from "jaxstage:build";
import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { offer } from "../../../wire/panelModule";
import { panelCode } from "../panelCode";

export const offered: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:panel-code",
  description: "Gives the code that draws panels to all of them, once a page.",
  autoStart: true,
  activate: () => offer(Object.assign(() => panelCode(), { version: BUILD })),
};
