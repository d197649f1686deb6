/** A state of which parts are replaced, and those who want to hear of it. */

import { Observable } from "./observable";

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
