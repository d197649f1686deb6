/**
 * Whether the user has just clicked on source in a panel: a line of the source pane, or the name of a place. Only then may
 * the notebook scroll, for it takes the panel from under the pointer.
 */

import { MOUNTED, type Mounted } from "../../../model/mounted";
import type { Session } from "../../../model/session";

const RECENT_MS = 1000;
const EVENTS = ["pointerdown", "pointerup"];
const SOURCE_CODE = '[data-doc="python"], [data-doc^="python:"], .jxs-link';

export class Gestures {
  private last = new WeakMap<Session, number>();
  private heard = new WeakSet<HTMLElement>();

  constructor() {
    for (const mounted of MOUNTED.list) this.listen(mounted);
    MOUNTED.onChange((mounted, isThere) => isThere && this.listen(mounted));
  }

  isRecent(session: Session): boolean {
    return performance.now() - (this.last.get(session) ?? -Infinity) < RECENT_MS;
  }

  private listen({ session, root }: Mounted): void {
    if (this.heard.has(root)) return;
    this.heard.add(root);
    const clicked = ({ target }: Event) => {
      if (target instanceof Element && target.closest(SOURCE_CODE)) this.last.set(session, performance.now());
    };
    for (const name of EVENTS) root.addEventListener(name, clicked, { capture: true, passive: true });
  }
}
