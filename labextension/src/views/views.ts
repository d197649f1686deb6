/** The panel's tabs beside the code. A call has those that are here and that its summary names. */

import type { JSX } from "preact";
import type { Session } from "../session";
import type { Summary } from "../state";
import { CompareView } from "./compareView";
import { later } from "./later";

export interface View {
  /** On its tab. */
  title: string;
  /** What it shows, in half a sentence. */
  hint: string;
  component: (props: { session: Session }) => JSX.Element;
  /** Fills the height that the panel gives it; others are as high as what they show, up to that. */
  tall?: boolean;
}

export const CODE = { title: "Code", hint: "source, jaxpr, StableHLO, optimised HLO, line by line" };

export const VIEWS: Record<string, View> = {
  compare: { title: "Compare", hint: "this call's targets side by side", component: CompareView },
  machine: {
    title: "Machine code",
    hint: "each kernel's LLVM IR, PTX, assembly, and what it takes",
    component: later("machine"),
    tall: true,
  },
  answers: { title: "Answers", hint: "what bounds it, does it fit, and which lines to look at", component: later("answers") },
  cost: { title: "Cost", hint: "FLOPs and bytes, and what bounds the program", component: later("cost"), tall: true },
  memory: { title: "Memory", hint: "what lives when, and does it fit", component: later("memory"), tall: true },
  shardings: { title: "Shardings", hint: "which device holds which slice of each value", component: later("shardings"), tall: true },
  collectives: { title: "Collectives", hint: "what the devices exchange, and why", component: later("collectives"), tall: true },
  dtypes: { title: "Dtypes", hint: "where values are promoted or demoted", component: later("dtypes"), tall: true },
  passes: { title: "Passes", hint: "what each of XLA's passes changed", component: later("passes"), tall: true },
  options: { title: "Options", hint: "XLA's flags, and what this call sets", component: later("options"), tall: true },
};

/** The names of a call's tabs, in Python's order. */
export function tabsOf(summary: Summary | null): string[] {
  return (summary?.views ?? []).filter((name) => name === "code" || Object.hasOwn(VIEWS, name));
}

/** The tab that is open: the one chosen; before that what took the memory, where the compile ran out of it, or how the
 * values were to lie, where JAX refused that; else the comparison, where there is one; else the code. */
export function openTab(summary: Summary | null, chosen: string): string {
  const tabs = tabsOf(summary);
  if (tabs.includes(chosen)) return chosen;
  if (chosen === "" && tabs.includes("memory") && summary?.error?.message.includes("RESOURCE_EXHAUSTED")) return "memory";
  if (chosen === "" && tabs.includes("shardings") && (summary?.error?.stage === "trace" || summary?.error?.stage === "lower")) return "shardings";
  return chosen === "" && tabs.includes("compare") ? "compare" : "code";
}
