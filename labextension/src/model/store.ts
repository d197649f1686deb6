/** A state of which parts are replaced, and those who want to hear of it. */

type Listener<T> = (now: T, before: T) => void;

export class Store<T extends object> {
  private listeners = new Set<Listener<T>>();

  constructor(private now: T) {}

  get(): T {
    return this.now;
  }

  set(patch: Partial<T>): void {
    const before = this.now;
    const same = (Object.keys(patch) as (keyof T)[]).every((key) => before[key] === patch[key]);
    if (same) return;
    this.now = { ...before, ...patch };
    for (const listener of [...this.listeners]) listener(this.now, before);
  }

  subscribe(listener: Listener<T>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
