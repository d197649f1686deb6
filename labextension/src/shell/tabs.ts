/** Which tabs a call has, and which of them is open. */

import { TABS } from "jaxstage:tabs";
import type { Summary } from "../wire/state";

/** The names of a call's tabs, in Python's order. */
export function tabsOf(summary: Summary | null): string[] {
  return (summary?.views ?? ["code"]).filter((name) => Object.hasOwn(TABS, name));
}

/** The tab that is open: the one chosen; before that the one that the kernel proposes; else the first, which is the code of a call. */
export function openTab(summary: Summary | null, chosen: string): string {
  const tabs = tabsOf(summary);
  const wanted = [chosen, summary?.open ?? "", "code"].find((name) => tabs.includes(name));
  return wanted ?? tabs[0] ?? "code";
}
