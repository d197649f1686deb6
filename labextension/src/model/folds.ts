/** Which rows show: a folded block hides all its rows but the first. */
export class Folds {
  private folded = new Set<number>();
  /** First and last rows of the hidden stretches, ascending, and how many rows were hidden before each. */
  private starts: number[] = [];
  private ends: number[] = [];
  private before: number[] = [];
  private enclosing: Int32Array | null = null;
  visible: number;

  constructor(
    readonly length: number,
    private foldEnd: Int32Array | null = null,
  ) {
    this.visible = length;
  }

  /** New columns for the same rows: blocks that are still there stay folded. */
  replace(foldEnd: Int32Array): void {
    this.foldEnd = foldEnd;
    this.enclosing = null;
    this.settle([...this.folded]);
  }

  end(row: number): number {
    const end = this.foldEnd?.[row] ?? -1;
    return end > row ? Math.min(end, this.length - 1) : -1;
  }

  /** The rows that open blocks which lie in no other. */
  get outermost(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.length; row++) {
      if (!this.canFold(row)) continue;
      rows.push(row);
      row = this.end(row);
    }
    return rows;
  }

  canFold(row: number): boolean {
    return this.end(row) > row;
  }

  isFolded(row: number): boolean {
    return this.folded.has(row);
  }

  get anyFolded(): boolean {
    return this.folded.size > 0;
  }

  get foldedRows(): number[] {
    return [...this.folded];
  }

  toggle(row: number): void {
    if (!this.folded.delete(row)) this.folded.add(row);
    this.settle([...this.folded]);
  }

  unfoldAll(): void {
    this.settle([]);
  }

  /** Folds every block, but not one that spans most of the document: a module folded to one line says nothing. */
  foldAll(): void {
    const rows: number[] = [];
    for (let row = 0; row < this.length; row++) {
      if (this.end(row) - row < this.length * 0.6 && this.canFold(row)) rows.push(row);
    }
    this.settle(rows);
  }

  settle(rows: number[]): void {
    this.folded = new Set(rows.filter((row) => this.canFold(row)));
    this.starts = [];
    this.ends = [];
    this.before = [];
    let hidden = 0;
    let last = -1;
    for (const row of [...this.folded].sort((a, b) => a - b)) {
      const end = this.end(row);
      if (end <= last) continue;
      const start = Math.max(row, last) + 1;
      this.starts.push(start);
      this.ends.push(end);
      this.before.push(hidden);
      hidden += end - start + 1;
      last = end;
    }
    this.visible = this.length - hidden;
  }

  /** Index of the last hidden stretch that begins at or before the row, or -1. */
  private stretch(row: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) <= row) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  isHidden(row: number): boolean {
    const i = this.stretch(row);
    return i >= 0 && row <= (this.ends[i] ?? -1);
  }

  /** Position among the visible rows; of a hidden row, that of the row it is folded into. */
  indexOf(row: number): number {
    const i = this.stretch(row);
    if (i < 0) return row;
    const start = this.starts[i] ?? 0;
    const end = this.ends[i] ?? 0;
    const before = this.before[i] ?? 0;
    return row <= end ? start - 1 - before : row - before - (end - start + 1);
  }

  /** The row at a position among the visible rows. */
  rowAt(index: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) - (this.before[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    const i = low - 1;
    if (i < 0) return index;
    return index + (this.before[i] ?? 0) + (this.ends[i] ?? 0) - (this.starts[i] ?? 0) + 1;
  }

  /** Unfolds whatever hides the row; says whether anything changed. */
  reveal(row: number): boolean {
    if (!this.isHidden(row)) return false;
    this.settle([...this.folded].filter((header) => !(header < row && row <= this.end(header))));
    return true;
  }

  /** The first row of the innermost block that the row is in, not counting one that it opens itself; -1 outside. */
  parent(row: number): number {
    this.enclosing ??= this.parents();
    return this.enclosing[row] ?? -1;
  }

  private parents(): Int32Array {
    const parents = new Int32Array(this.length).fill(-1);
    const open: number[] = [];
    for (let row = 0; row < this.length; row++) {
      while (open.length && this.end(open[open.length - 1] ?? 0) < row) open.pop();
      parents[row] = open[open.length - 1] ?? -1;
      if (this.canFold(row)) open.push(row);
    }
    return parents;
  }
}
