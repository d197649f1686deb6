import { counted } from "../wire/figures";
import { messageOf } from "../wire/errors";
import type { Reply } from "../wire/source";
import type { Hits, Text } from "./text";

export const PAGE = 256;
const MARGIN = 2;
const KEPT = 400;
const MAX_IN_FLIGHT = 4;
const MAX_COPY_ROWS = 50_000;
/** Rows that the kernel sends in one reply. */
const LONGEST = 5000;

export interface Pages {
  page(start: number, end: number): Promise<Reply>;
  search(query: string, matchCase: boolean): Promise<Reply>;
}

/** A document too large to send: pages of lines, those near the view fetched ahead. */
export class PagedText implements Text {
  problem: string | null = null;
  private pages = new Map<number, string[]>();
  private asked = new Set<number>();
  private inFlight = 0;
  private wanted: [number, number] = [0, 0];
  private listeners: (() => void)[] = [];

  constructor(
    readonly length: number,
    private fetch: Pages,
  ) {}

  line(row: number): string | undefined {
    return this.pages.get(Math.floor(row / PAGE))?.[row % PAGE];
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  retry(): void {
    this.problem = null;
    this.fill();
    this.changed();
  }

  want(first: number, last: number): void {
    this.wanted = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    if (!this.problem) this.fill();
  }

  /** What is in view comes first, in a request of its own; then the margin around it. */
  private fill(): void {
    const [first, last] = this.wanted;
    this.askMissing(first, last);
    this.askMissing(last + 1, last + MARGIN);
    this.askMissing(first - MARGIN, first - 1);
  }

  private askMissing(first: number, last: number): void {
    const end = Math.min(last, Math.ceil(this.length / PAGE) - 1);
    let start = Math.max(0, first);
    while (start <= end) {
      while (start <= end && this.here(start)) start++;
      let stop = start;
      while (stop <= end && !this.here(stop)) stop++;
      if (stop > start) void this.ask(start, stop);
      start = stop;
    }
  }

  private here(page: number): boolean {
    return this.pages.has(page) || this.asked.has(page);
  }

  private async ask(first: number, stop: number): Promise<void> {
    if (this.inFlight >= MAX_IN_FLIGHT) return;
    this.inFlight++;
    for (let page = first; page < stop; page++) this.asked.add(page);
    try {
      this.take(first, stop, await this.fetch.page(first * PAGE, Math.min(stop * PAGE, this.length)));
    } catch (error) {
      this.problem = messageOf(error);
    }
    for (let page = first; page < stop; page++) this.asked.delete(page);
    this.inFlight--;
    this.changed();
    if (!this.problem) this.fill();
  }

  private take(first: number, stop: number, reply: Reply): void {
    const lines = Array.isArray(reply.result.lines) ? reply.result.lines.map(String) : [];
    const due = Math.min(stop * PAGE, this.length) - first * PAGE;
    if (lines.length < due) throw new Error(`The kernel sent ${lines.length} of ${due} lines.`);
    for (let page = first; page < stop; page++) {
      const at = (page - first) * PAGE;
      this.pages.delete(page);
      this.pages.set(page, lines.slice(at, at + PAGE));
    }
    this.forget();
  }

  private forget(): void {
    for (const page of this.pages.keys()) {
      if (this.pages.size <= KEPT) return;
      if (page < this.wanted[0] - MARGIN || page > this.wanted[1] + MARGIN) this.pages.delete(page);
    }
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  async search(query: string, matchCase: boolean): Promise<Hits> {
    const { result, buffers } = await this.fetch.search(query, matchCase);
    const rows = new Int32Array(buffers[0] ?? new ArrayBuffer(0));
    const columns = new Int32Array(buffers[1] ?? new ArrayBuffer(0));
    return { rows, columns, total: typeof result.total === "number" ? result.total : rows.length };
  }

  async all(): Promise<string> {
    if (this.length > MAX_COPY_ROWS) {
      throw new Error(`${counted(this.length)} lines are too many to copy; use .documents[...].text`);
    }
    const parts: Promise<Reply>[] = [];
    for (let row = 0; row < this.length; row += LONGEST) parts.push(this.fetch.page(row, Math.min(row + LONGEST, this.length)));
    return (await Promise.all(parts)).flatMap(({ result }) => (Array.isArray(result.lines) ? result.lines : [])).join("\n");
  }
}
