/** What older kernels and saved pages leave to be read off their words. */

import type { Fields } from "./check";
import { fields, list, text } from "./check";

/** The tab to open where the kernel names none: what took the memory, the shardings that were refused, or the comparison. */
export function openOf(summary: Fields): string {
  const views = list(summary.views);
  const { message, stage } = fields(summary.error);
  const isRefused = stage === "trace" || stage === "lower";
  if (views.includes("memory") && text(message).includes("RESOURCE_EXHAUSTED")) return "memory";
  if (views.includes("shardings") && isRefused) return "shardings";
  return views.includes("compare") ? "compare" : "";
}

export const isUnknown = (fact: Fields): boolean => fact.text === "unknown";

/** Whether a worker's log may say more of the error. */
export const hasLog = (summary: Fields): boolean => summary.worker === true && fields(summary.error).stage === "compile";
