/** The view states of this page's panels and, over a reload, of those that the browser has kept. */

import { list } from "../wire/check";
import { type Layout, newLayout } from "./layout";
import type { Session } from "./session";
import type { Store } from "./observable";
import { type ViewState, layoutOf, readViewState, restore, viewStateOf } from "./viewState";

const KEY = "jaxstage.views";
const MOST_KEPT = 50;
const MOST_TEXT = 200_000;
const LARGEST = 8_000;
const SOON_MS = 200;

type Kept = [id: string, state: unknown];

export class ViewStates {
  private now = new Map<string, ViewState>();
  private changed = new Set<string>();
  private collectors = new Map<() => void, string>();
  private restored = new WeakSet<Session>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The storage may be forbidden, full, or not there: then states last as long as the page. */
  constructor(private storage: () => Storage | undefined) {}

  /** Brings a session to where its user was, when it is first drawn; gives the layout to draw it in. */
  open(session: Session): Store<Layout> {
    const kept = session.id ? this.find(session.id) : null;
    if (kept && !this.restored.has(session)) restore(session, kept);
    this.restored.add(session);
    return newLayout(kept ? layoutOf(kept) : {});
  }

  /** Keeps where the user goes from now on; what is returned ends that. */
  watch(session: Session, layout: Store<Layout>): () => void {
    if (!session.id) return () => undefined;
    const collect = () => this.set(session.id, viewStateOf(session, layout.get()));
    this.collectors.set(collect, session.id);
    const ends = [session.selection.onChange((now, before) => now.hover === before.hover && collect()), layout.onChange(collect)];
    return () => {
      collect();
      this.collectors.delete(collect);
      for (const end of ends) end();
    };
  }

  private find(id: string): ViewState | null {
    for (const [collect, of] of this.collectors) if (of === id) collect(); // folds say nothing of their own
    const kept = this.now.get(id) ?? this.stored().find(([name]) => name === id)?.[1];
    return kept ? readViewState(kept) : null;
  }

  private set(id: string, state: ViewState): void {
    this.now.delete(id);
    this.now.set(id, state);
    if (this.now.size > MOST_KEPT) this.now.delete([...this.now.keys()][0] as string);
    this.changed.add(id);
    this.timer ??= setTimeout(() => this.write(), SOON_MS);
  }

  /** Writes all that has changed: before the page goes. */
  flush(): void {
    for (const collect of [...this.collectors.keys()]) collect();
    this.write();
  }

  private stored(): Kept[] {
    try {
      const text = this.storage()?.getItem(KEY) ?? "";
      if (!text || text.length > MOST_TEXT) return [];
      return list(JSON.parse(text), MOST_KEPT).flatMap((one) => (Array.isArray(one) && typeof one[0] === "string" ? [[one[0], one[1]] as Kept] : []));
    } catch {
      return [];
    }
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const mine = [...this.changed].flatMap((id): Kept[] => (this.now.has(id) ? [[id, this.now.get(id)]] : []));
    this.changed.clear();
    const small = mine.filter(([, state]) => JSON.stringify(state).length <= LARGEST);
    const others = this.stored().filter(([id]) => !mine.some(([name]) => name === id));
    let kept = [...others, ...small].slice(-MOST_KEPT);
    while (JSON.stringify(kept).length > MOST_TEXT) kept = kept.slice(1);
    try {
      this.storage()?.setItem(KEY, JSON.stringify(kept));
    } catch {
      // full or forbidden: this page's own states are in memory
    }
  }
}

/** Those of this page. */
export const VIEW_STATES = new ViewStates(() => globalThis.localStorage);
globalThis.addEventListener?.("pagehide", () => VIEW_STATES.flush());
