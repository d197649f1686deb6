/** The sessions that are drawn on this page, and where; hosts that link them to what is around them listen. */

import { Observable } from "./observable";
import type { Session } from "./session";

export interface Mounted {
  session: Session;
  root: HTMLElement;
}

class MountedSessions extends Observable<[mounted: Mounted, isThere: boolean]> {
  private all = new Set<Mounted>();

  get list(): Mounted[] {
    return [...this.all];
  }

  /** Adds one; what is returned removes it. */
  add(mounted: Mounted): () => void {
    this.all.add(mounted);
    this.changed(mounted, true);
    return () => {
      if (this.all.delete(mounted)) this.changed(mounted, false);
    };
  }
}

/** Those of this page. */
export const MOUNTED = new MountedSessions();
