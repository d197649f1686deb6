/** The target and the options to inspect with: those that a notebook used last, else the user's defaults. */

import type { NotebookPanel } from "@jupyterlab/notebook";
import { fields, text } from "../../../wire/check";
import { type Choice, type StageName, choiceOfOptions, hasTarget } from "./cellCode";
import type { KernelLink, Preferences } from "../tokens";

/** Of each notebook, what was chosen on the page. */
const chosen = new WeakMap<NotebookPanel, Map<StageName, Choice>>();

export function remember(panel: NotebookPanel, choice: Choice): void {
  const known = chosen.get(panel) ?? new Map<StageName, Choice>();
  chosen.set(panel, known.set(choice.stage, choice));
}

/** What the kernel ran last at this stage, in a magic or from the page; null where it has run none. */
async function lastRun(link: KernelLink | null, stage: StageName): Promise<Choice | null> {
  const reply = await link?.request("last", {}).catch(() => null);
  const last = reply && fields(reply.result.lines)[stage];
  return last ? choiceOfOptions(stage, text(fields(last).options)) : null;
}

function byDefault(stage: StageName, { target, options }: Preferences): Choice {
  return { stage, target: hasTarget(stage) ? target : "", options: stage === "compile" ? options : "" };
}

/** The choice with which a notebook inspected last at this stage. */
export async function lastChoice(panel: NotebookPanel, stage: StageName, link: KernelLink | null, preferences: Preferences): Promise<Choice> {
  return (await lastRun(link, stage)) ?? chosen.get(panel)?.get(stage) ?? byDefault(stage, preferences);
}
