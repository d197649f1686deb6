/** The lines of a document, whole in memory or fetched by pages. */

export interface Hits {
  /** Ascending; at most `MAX_HITS` of them. */
  rows: Int32Array;
  columns: Int32Array;
  /** Exact, also where not all hits are listed. */
  total: number;
}

export interface Text {
  readonly length: number;
  /** undefined: not here yet. */
  line(row: number): string | undefined;
  /** Says which rows are about to be shown, so that they are fetched. */
  want(first: number, last: number): void;
  /** Called when more lines have come in, or could not be. */
  onChange(listener: () => void): void;
  readonly problem: string | null;
  retry(): void;
  search(query: string, matchCase: boolean): Promise<Hits>;
  /** The whole text; rejects where it is too large to be copied. */
  all(): Promise<string>;
}

export const MAX_HITS = 20_000;
const CHUNK = 4 * 1024 * 1024;
const NEWLINE = 10;

export class FullText implements Text {
  readonly length: number;
  readonly problem = null;
  private starts: Uint32Array;
  private decoder = new TextDecoder();

  constructor(private bytes: Uint8Array) {
    this.starts = lineStarts(bytes);
    this.length = this.starts.length - 1;
  }

  line(row: number): string | undefined {
    if (row < 0 || row >= this.length) return undefined;
    const start = this.starts[row] ?? 0;
    return this.decoder.decode(this.bytes.subarray(start, (this.starts[row + 1] ?? 1) - 1));
  }

  want(): void {}
  onChange(): void {}
  retry(): void {}

  async all(): Promise<string> {
    return this.decoder.decode(this.bytes);
  }

  /** Searches by chunks of lines and lets the page breathe between them. */
  async search(query: string, matchCase: boolean): Promise<Hits> {
    const list = new HitList();
    if (!query) return list.hits();
    const needle = matchCase ? query : folded(query);
    for (let row = 0; row < this.length; ) {
      const end = this.chunkEnd(row);
      this.searchChunk(list, row, end, needle, matchCase);
      row = end;
      if (row < this.length) await breathe();
    }
    return list.hits();
  }

  private chunkEnd(row: number): number {
    const limit = (this.starts[row] ?? 0) + CHUNK;
    let low = row + 1;
    let high = this.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= limit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private searchChunk(list: HitList, row: number, end: number, needle: string, matchCase: boolean): void {
    const chunk = this.decoder.decode(this.bytes.subarray(this.starts[row], (this.starts[end] ?? 1) - 1));
    list.searchText(matchCase ? chunk : folded(chunk), needle, row);
  }
}

/** In lower case, but for the few characters that would change their length: positions stay. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join("");
}

function lineStarts(bytes: Uint8Array): Uint32Array {
  let starts = new Uint32Array(1024);
  let n = 1;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    if (n + 1 >= starts.length) starts = grown(starts);
    starts[n++] = at + 1;
  }
  starts[n++] = bytes.length + 1;
  return starts.subarray(0, n);
}

function grown(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(old.length * 2);
  larger.set(old);
  return larger;
}

function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

/** Collects hits; keeps the first `MAX_HITS` and counts the rest. */
class HitList {
  private rows: number[] = [];
  private columns: number[] = [];
  private total = 0;

  searchText(text: string, needle: string, row: number): void {
    let lineStart = 0;
    let lineEnd = lineEndAfter(text, 0);
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      this.total++;
      if (this.rows.length >= MAX_HITS) continue;
      while (lineEnd < at) {
        lineStart = lineEnd + 1;
        lineEnd = lineEndAfter(text, lineStart);
        row++;
      }
      this.rows.push(row);
      this.columns.push(at - lineStart);
    }
  }

  hits(): Hits {
    return { rows: Int32Array.from(this.rows), columns: Int32Array.from(this.columns), total: this.total };
  }
}

function lineEndAfter(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
