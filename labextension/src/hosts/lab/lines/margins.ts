/** What stands beside the lines of panels and their cells, by the settings and by a command; the panel may choose otherwise. */

import { chooseMargin, offeredMargins } from "../../../model/margin";
import type { Session } from "../../../model/session";
import type { Preferences } from "../tokens";

/** The measures of the panel, by their names in the settings. */
const MEASURES: Record<Preferences["gutter"], string> = { off: "", flops: "FLOPs", bytes: "bytes", memory: "memory", time: "time" };

/** The setting that a session has followed. */
const followed = new WeakMap<Session, string>();

export function newPanelMargins(sessions: Session[], gutter: Preferences["gutter"]): void {
  const measure = MEASURES[gutter];
  for (const session of sessions) {
    const before = followed.get(session) ?? "";
    if (before === measure || (measure && !offeredMargins(session.selection).includes(measure))) continue;
    followed.set(session, measure);
    if (session.selection.get().measure === before) chooseMargin(session.selection, measure);
  }
}

/** The next thing that they offer, and after the last nothing. */
export function nextMargin(sessions: Session[]): void {
  const names = ["", ...new Set(sessions.flatMap(({ selection }) => offeredMargins(selection)))];
  const at = names.indexOf(sessions[0]?.selection.get().measure ?? "");
  showMargin(sessions, names[(at + 1) % names.length] ?? "");
}

export function showMargin(sessions: Session[], measure: string): void {
  for (const session of sessions) if (!measure || offeredMargins(session.selection).includes(measure)) chooseMargin(session.selection, measure);
}
