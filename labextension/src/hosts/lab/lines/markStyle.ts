/** How marked lines look: in the colours of the panel, with the theme of the page. */

import { DISTINCT, nthColour } from "../../../model/colours";

const hues = Array.from({ length: DISTINCT }, (_, n) => nthColour(n));

/** A class for each colour, since a page's policy may forbid style attributes. */
const classes = hues.map((hue) => `.jaxstage-hue-${hue}{--jaxstage-h:${hue % 360};--jaxstage-shade:${0.22 * Math.floor(hue / 360)}}`);

const RULES = `
.jaxstage-hue-none { --jaxstage-chroma: 0; }
.jaxstage-line {
  --jaxstage-edge: oklch(calc(0.7 - var(--jaxstage-shade, 0)) var(--jaxstage-chroma, 0.15) var(--jaxstage-h, 0));
  --jaxstage-tint: oklch(calc(0.74 - var(--jaxstage-shade, 0)) var(--jaxstage-chroma, 0.15) var(--jaxstage-h, 0) / var(--jaxstage-alpha));
}
body[data-jp-theme-light="false"] .jaxstage-line {
  --jaxstage-edge: oklch(calc(0.78 - var(--jaxstage-shade, 0)) var(--jaxstage-chroma, 0.13) var(--jaxstage-h, 0));
  --jaxstage-tint: oklch(calc(0.78 - var(--jaxstage-shade, 0)) var(--jaxstage-chroma, 0.13) var(--jaxstage-h, 0) / var(--jaxstage-alpha));
}
.cm-line.jaxstage-line {
  background-image: linear-gradient(var(--jaxstage-tint), var(--jaxstage-tint));
  box-shadow: inset 3px 0 var(--jaxstage-edge);
}
.jaxstage-called { --jaxstage-alpha: 0.08; }
.jaxstage-selected { --jaxstage-alpha: 0.2; }
.jaxstage-hover { --jaxstage-alpha: 0.34; }
.jaxstage-gutter .cm-gutterElement { padding: 0 4px 0 2px; }
.jaxstage-figure {
  position: relative;
  display: block;
  min-width: 6ch;
  color: var(--jp-content-font-color1);
  font: 11px var(--jp-ui-font-family);
  line-height: inherit;
  text-align: right;
}
.jaxstage-figure i {
  position: absolute;
  right: 0;
  bottom: 1px;
  height: 3px;
  background: var(--jp-warn-color1);
}
@media (forced-colors: active) {
  .cm-line.jaxstage-line { outline: 1px solid Highlight; outline-offset: -1px; }
}
`;

/** Adds the rules to the page. */
export function addStyle(rules = RULES + classes.join("")): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
