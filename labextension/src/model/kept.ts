/** What views want to find when they are drawn anew. */

const MOST_KEPT = 50;

export class Kept {
  private values = new Map<string, unknown>();

  recall(key: string): unknown {
    return this.values.get(key);
  }

  /** What was kept longest ago goes first. */
  keep(key: string, value: unknown): void {
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size > MOST_KEPT) this.values.delete([...this.values.keys()][0] as string);
  }

  forget(): void {
    this.values.clear();
  }
}
