/** The icon of JAXStage: stages, one below the other. */

import { LabIcon } from "@jupyterlab/ui-components";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <g class="jp-icon3" fill="#616161">
    <path d="M2 2.2h7.5v2.4H2z"/>
    <path d="M5 6.8h6.5v2.4H5z"/>
    <path d="M8 11.4h6v2.4H8z"/>
    <path d="M3 6h1.2v2.6H3zM6 10.6h1.2v2.6H6z" opacity=".7"/>
  </g>
</svg>`;

export const jaxstageIcon = new LabIcon({ name: "jaxstage:icon", svgstr: SVG });
