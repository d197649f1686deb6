/** The sessions that are drawn on this page, and where; hosts that link them to what is around them listen. */

import type { Session } from "./session";

export interface Mounted {
  session: Session;
  root: HTMLElement;
}

export class MountedSessions {
  private all = new Set<Mounted>();
  private listeners = new Set<(mounted: Mounted, isThere: boolean) => void>();

  get list(): Mounted[] {
    return [...this.all];
  }

  /** Adds one; what is returned removes it. */
  add(mounted: Mounted): () => void {
    this.all.add(mounted);
    this.tell(mounted, true);
    return () => {
      if (this.all.delete(mounted)) this.tell(mounted, false);
    };
  }

  /** Calls the listener when a session is drawn and when it is taken away; what is returned ends that. */
  onChange(listener: (mounted: Mounted, isThere: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(mounted: Mounted, isThere: boolean): void {
    for (const listener of [...this.listeners]) listener(mounted, isThere);
  }
}

/** Those of this page. */
export const MOUNTED = new MountedSessions();
