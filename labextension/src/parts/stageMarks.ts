import type { StageState } from "../wire/state";

/** The sign of a stage's state, beside its word; what runs has a spinner. */
export const STAGE_MARKS: Record<StageState, string> = {
  waiting: "○",
  running: "",
  done: "✓",
  failed: "✕",
  interrupted: "■",
  given: "✓",
  "not given": "–",
  "not reached": "○",
};

/** The state in a class name. */
export const stateClass = (state: StageState): string => state.replace(" ", "-");
