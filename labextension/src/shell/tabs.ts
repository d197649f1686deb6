/** Which tabs a call has, and which of them is open. */

import { TABS } from "jaxstage:tabs";
import type { Summary } from "../wire/state";

/** The names of a call's tabs, in Python's order. */
export function tabsOf(summary: Summary | null): string[] {
  return (summary?.views ?? ["code"]).filter((name) => Object.hasOwn(TABS, name));
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
