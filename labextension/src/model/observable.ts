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
