/** What others want to hear of: of each change they are told what `changed` is called with. */

type Listener<A extends unknown[]> = (...now: A) => void;

export class Observable<A extends unknown[] = []> {
  /** How often it has changed. */
  changes = 0;
  private listeners = new Set<Listener<A>>();

  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  /** Calls the listener at each change, until what is returned is called. */
  onChange(listener: Listener<A>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(...now: A): void {
    this.changes++;
    for (const listener of [...this.listeners]) listener(...now);
  }
}

/** A state of which parts are replaced. */
export class Store<T extends object> extends Observable<[now: T, before: T]> {
  constructor(private now: T) {
    super();
  }

  get(): T {
    return this.now;
  }

  set(patch: Partial<T>): void {
    const before = this.now;
    const same = (Object.keys(patch) as (keyof T)[]).every((key) => before[key] === patch[key]);
    if (same) return;
    this.now = { ...before, ...patch };
    this.changed(this.now, before);
  }
}
