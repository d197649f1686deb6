import { Refusal, messageOf } from "../wire/errors";
import { LEFT_OUT, type Rows, readRows } from "../wire/columns";
import { Folds } from "./folds";
import { gunzip } from "../wire/gzip";
import { Observable } from "./observable";
import { PagedText } from "./pagedText";
import { openQuotes } from "./highlight";
import type { Reply, Source } from "../wire/source";
import type { DocumentInfo } from "../wire/state";
import { lineKey, sourceLine } from "./links";
import { type Pick, type SourceLine, isSource } from "./place";
import { FullText, type Hits, type Text } from "./text";

export interface Search {
  open: boolean;
  query: string;
  matchCase: boolean;
  hits: Hits | null;
  at: number;
}

/** One document of one call: its text, what is known of its rows, and where the user is in it. */
export class Doc extends Observable {
  text: Text | null = null;
  rows: Rows | null = null;
  folds = new Folds(0);
  problem: string | null = null;
  /** Whether asking once more is of no use, since nobody has it. */
  isAbsent = false;
  paged = false;
  scrollTop = 0;
  scrollLeft = 0;
  current = 0;
  /** The row of the error that has been scrolled to. */
  errorShown = -1;
  /** Whether the pane has begun where its reader would. */
  begun = false;
  /** The selection whose counterparts the pane has scrolled to. */
  followed: Pick | null = null;
  /** What operations do, by name, once it was asked for. */
  help = new Map<string, string>();
  search: Search = { open: false, query: "", matchCase: false, hits: null, at: -1 };
  private quotes: (string | null)[] | null = null;
  /** The rows of a source by "file,line". */
  private lines: { of: Rows; at: Map<string, number> } | null = null;
  /** Of lines that have come in. */
  readonly fills = new Observable();
  private textProblem: string | null = null;
  private turn = 0;
  private size = "";

  constructor(
    private source: Source,
    readonly call: number,
    public info: DocumentInfo,
  ) {
    super();
  }

  get kind(): string {
    return this.info.kind;
  }

  ask(method: string, more: Record<string, string | number | boolean> = {}): Promise<Reply> {
    return this.source.request(method, { call: this.call, doc: this.kind, ...more });
  }

  /** Text first, so that it shows; then the columns. Keeps what it has when either fails; a later call wins. */
  async load(framesFor: (rows: Rows) => Promise<void>): Promise<void> {
    const turn = ++this.turn;
    this.problem = null;
    this.isAbsent = false;
    try {
      await this.loadText(turn);
      this.changed();
      const rows = await readRows(await this.ask("columns"), this.text?.length ?? 0);
      await framesFor(rows);
      if (turn !== this.turn) return;
      this.rows = rows;
      this.folds.replace(rows.foldEnd);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
    this.changed();
  }

  private fail(error: unknown): void {
    this.problem = messageOf(error);
    this.isAbsent = error instanceof Refusal && error.kind === "absent";
  }

  /** A text of the same size is the same text: a further stage adds to what is known of it, not to it. */
  private async loadText(turn: number): Promise<void> {
    const size = `${this.info.lines} ${this.info.bytes}`;
    if (this.text && this.size === size) return;
    const reply = await this.ask("document");
    const paged = reply.result.mode === "paged";
    const text = paged ? this.pagedText(reply) : new FullText(await gunzip(reply.buffers[0] ?? new ArrayBuffer(0)));
    if (turn === this.turn) this.take(text, paged, size);
  }

  private take(text: Text, paged: boolean, size: string): void {
    if (this.folds.length !== text.length) this.folds = new Folds(text.length);
    this.current = Math.min(this.current, Math.max(0, text.length - 1));
    this.search = { ...this.search, query: "", hits: null, at: -1 };
    this.quotes = null;
    this.rows = null;
    this.text = text;
    this.paged = paged;
    this.size = size;
    text.onChange(() => this.filled());
  }

  /** More lines have come in, which concerns only those who draw them; a failure concerns all. */
  private filled(): void {
    const problem = this.text?.problem ?? null;
    this.fills.changed();
    if (problem !== this.textProblem) this.changed();
    this.textProblem = problem;
  }

  private pagedText(reply: Reply): PagedText {
    const lines = typeof reply.result.lines === "number" ? Math.min(reply.result.lines, 50_000_000) : 0;
    return new PagedText(lines, {
      page: (start, end) => this.ask("page", { start, end }),
      search: (query, matchCase) => this.ask("search", { query, case: matchCase }),
    });
  }

  /** Whether a row of the source stands for lines that are not shown. */
  isLeftOut(row: number): boolean {
    return isSource(this.kind) && ((this.rows?.flags[row] ?? 0) & LEFT_OUT) > 0;
  }

  /** The row of a source that shows a line of a file, or -1. */
  rowOf({ file, line }: SourceLine): number {
    const { rows } = this;
    if (!rows) return -1;
    if (this.lines?.of !== rows) {
      const at = new Map<string, number>();
      for (let row = rows.frame.length; row--; ) {
        const shown = sourceLine(rows, row);
        if (shown) at.set(lineKey(shown), row);
      }
      this.lines = { of: rows, at };
    }
    return this.lines.at.get(lineKey({ file, line })) ?? -1;
  }

  /** The quotes of a docstring that a row of Python begins inside of. */
  quotesAt(row: number): string | null {
    if (!isSource(this.kind) || this.paged || !this.text) return null;
    this.quotes ??= openQuotes(this.eachLine(this.text));
    return this.quotes[row] ?? null;
  }

  private *eachLine(text: Text): Iterable<string> {
    for (let row = 0; row < text.length; row++) yield text.line(row) ?? "";
  }
}
