/** Draws the side panel; loaded when it is first shown. */

import { SIDE_STYLE } from "jaxstage:side-style";
import { render } from "preact";
import { keepOwnKeys } from "../../../parts/ownKeys";
import type { Inspections } from "./inspections";
import type { ListActions } from "./list";
import { SideView } from "./sideView";

const sheet = new CSSStyleSheet();
sheet.replaceSync(SIDE_STYLE);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** An element of ours, in which no plain key is taken for a shortcut of Jupyter's. */
export function rootIn(host: HTMLElement, name: string): HTMLElement {
  const root = document.createElement("div");
  root.className = `jaxstage ${name}`;
  keepOwnKeys(root);
  host.append(root);
  return root;
}

export function drawSide(host: HTMLElement, inspections: Inspections, actions: ListActions): void {
  render(<SideView inspections={inspections} actions={actions} />, rootIn(host, "jxs-side"));
}
