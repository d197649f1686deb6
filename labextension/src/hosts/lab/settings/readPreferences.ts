/** Settings as the registry gives them: what is not of the right kind has its default. */

import { isStage } from "../inspect/cellCode";
import { COLOURS, GUTTERS, type Preferences } from "../tokens";

export const DEFAULTS: Preferences = {
  stage: "compile",
  target: "",
  options: "",
  panes: [],
  marks: true,
  caret: true,
  gutter: "off",
  colours: "lines",
};

export function readPreferences(given: Record<string, unknown>): Preferences {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const flag = (value: unknown) => value !== false;
  const { stage, target, options, panes, marks, caret, gutter, colours } = given;
  return {
    stage: isStage(stage) ? stage : DEFAULTS.stage,
    target: text(target),
    options: text(options),
    panes: Array.isArray(panes) ? panes.filter((pane) => typeof pane === "string") : [],
    marks: flag(marks),
    caret: flag(caret),
    gutter: GUTTERS.find((measure) => measure === gutter) ?? DEFAULTS.gutter,
    colours: COLOURS.find((shown) => shown === colours) ?? DEFAULTS.colours,
  };
}
