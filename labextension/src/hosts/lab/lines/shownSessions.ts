/** All sessions drawn on the page, and everything that changes what lines they point at. */

import type { Doc } from "../../../model/document";
import { MOUNTED, type Mounted } from "../../../model/mounted";
import { type Pick, SOURCE } from "../../../model/place";
import type { Session } from "../../../model/session";

interface SessionEvents {
  /** At once, as a pointer moves. */
  pointed(): void;
  /** Anything else: sessions, their state, documents, what stands beside lines. */
  changed(): void;
  selected(session: Session): void;
}

/** Asks for the documents of what is pointed at and of what stands beside lines, if no view has. */
function documentsOf({ documents, selection }: Session): Doc[] {
  const { hover, selected, heat, lane } = selection.get();
  const kinds = [hover?.doc, selected?.doc, (heat || lane) && SOURCE, heat && "hlo"];
  return [documents.loaded(SOURCE), ...kinds.map((kind) => (kind ? documents.doc(kind) : null))].filter((doc) => doc !== null);
}

const POINTED = ["hover", "selected", "outside"] as const;
const BESIDE = ["call", "measure", "heat", "lane", "library"] as const;

export class ShownSessions {
  private ends = new Map<Session, () => void>();
  private heard = new WeakSet<object>();

  constructor(private events: SessionEvents) {}

  begin(): void {
    for (const mounted of MOUNTED.list) this.added(mounted);
    MOUNTED.onChange((mounted, isThere) => (isThere ? this.added(mounted) : this.removed(mounted)));
  }

  /** The one that was pointed at last comes last: its colours are those that a marked line has. */
  get list(): Session[] {
    return [...this.ends.keys()];
  }

  private added({ session }: Mounted): void {
    if (!this.ends.has(session)) this.ends.set(session, this.watch(session));
    this.changed(session);
  }

  private removed({ session }: Mounted): void {
    if (MOUNTED.list.some((other) => other.session === session)) return;
    this.ends.get(session)?.();
    this.ends.delete(session);
    this.events.changed();
  }

  private watch(session: Session): () => void {
    const ends = [
      session.panel.onChange(() => this.changed(session)),
      session.selection.onChange((now, before) => {
        if (BESIDE.some((name) => now[name] !== before[name])) this.changed(session);
        if (POINTED.some((name) => now[name] !== before[name])) this.pointed(session);
        if (isNew(now.selected, before.selected)) this.events.selected(session);
      }),
    ];
    return () => ends.forEach((end) => end());
  }

  private pointed(session: Session): void {
    const end = this.ends.get(session);
    if (end) {
      this.ends.delete(session);
      this.ends.set(session, end);
    }
    this.listen(session);
    this.events.pointed();
  }

  private changed(session: Session): void {
    this.listen(session);
    this.events.changed();
  }

  private listen(session: Session): void {
    for (const doc of documentsOf(session)) {
      if (this.heard.has(doc)) continue;
      this.heard.add(doc);
      doc.onChange(() => this.ends.has(session) && this.events.changed());
    }
  }
}

const isNew = (now: Pick | null, before: Pick | null): boolean => now !== null && now !== before;
