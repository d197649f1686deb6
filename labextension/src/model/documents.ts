/** The documents of the calls, fetched when they are first asked for, and what lights up in them together. */

import { OP, type Rows } from "../wire/columns";
import type { Source } from "../wire/source";
import { type DocumentInfo, type Summary, readDocument } from "../wire/state";
import { Doc } from "./document";
import { type Frames, readFrames } from "./frames";
import { type Lit, colouredLines, hueOfRow, litByRow, litRows } from "./links";
import type { Panel } from "./panel";
import { type Pick, type Place, SOURCE } from "./place";
import type { Selection } from "./selection";

const MOST_EXTRAS = 8;

interface Known {
  /** As the kernel gave them, and as the chosen library counts. */
  given: Frames;
  frames: Frames;
  coloured: Map<string, number>;
}

export class Documents {
  private docs = new Map<string, Doc>();
  private known = new Map<number, Known>();
  private generations = new Map<number, string>();
  private framesAsked = new Map<number, Promise<void>>();
  /** Rows to fold once the document is there. */
  private folds = new Map<string, number[]>();
  private litMemo: { pick: Pick; rows: Rows; frames: Frames; lit: Lit | null }[] = [];

  constructor(
    private source: Source,
    private panel: Panel,
    private selection: Selection,
  ) {}

  forget(): void {
    for (const known of [this.docs, this.known, this.generations, this.framesAsked, this.folds]) known.clear();
    this.litMemo = [];
  }

  /**
   * A further stage may add source files and frames: what is open is fetched anew, the user stays where they are. What
   * could not be fetched is asked for again, for a kernel that pushes its state is there.
   */
  refresh(): void {
    this.panel.state.calls.forEach((summary, call) => this.refreshCall(call, summary));
  }

  private refreshCall(call: number, summary: Summary): void {
    const generation = JSON.stringify(summary.documents);
    const isNew = this.generations.get(call) !== generation;
    if (isNew) this.framesAsked.delete(call);
    this.generations.set(call, generation);
    for (const info of summary.documents) {
      const doc = this.docs.get(`${call}/${info.kind}`);
      if (doc && (isNew || doc.problem)) this.load(doc, info);
    }
  }

  /** The document, fetched when it is first asked for; null when the call has none of that kind. */
  doc(kind: string, call = this.selection.call): Doc | null {
    const found = this.docs.get(`${call}/${kind}`);
    if (found) return found;
    const { librarySource } = this.selection.get();
    const info = this.panel.state.calls[call]?.documents.find((d) => d.kind === kind) ?? (librarySource?.kind === kind ? librarySource : null);
    if (!info) return null;
    const doc = new Doc(this.source, call, info);
    this.docs.set(`${call}/${kind}`, doc);
    this.load(doc, info);
    return doc;
  }

  /** What the document is that shows the files of the user's source whole. */
  async wholeFiles(call: number): Promise<DocumentInfo> {
    return readDocument((await this.source.request("library", { call, library: "" })).result);
  }

  /** A document that the summary does not name: a kernel's text, the module after a pass. The last few are kept. */
  further(info: DocumentInfo): Doc {
    const key = `${this.selection.call}/${info.kind}`;
    const doc = this.docs.get(key) ?? new Doc(this.source, this.selection.call, info);
    if (!this.docs.has(key)) this.load(doc, info);
    this.docs.delete(key);
    this.docs.set(key, doc);
    const extras = [...this.docs.values()].filter((d) => !this.isListed(d));
    const { selected } = this.selection.get();
    for (const old of extras.slice(0, -MOST_EXTRAS)) {
      if (old.kind !== selected?.doc) this.docs.delete(`${old.call}/${old.kind}`);
    }
    return doc;
  }

  private isListed(doc: Doc): boolean {
    return this.panel.state.calls[doc.call]?.documents.some((d) => d.kind === doc.kind) ?? false;
  }

  /** The document of the shown call, if it has been asked for. */
  loaded(kind: string): Doc | null {
    return this.docs.get(`${this.selection.call}/${kind}`) ?? null;
  }

  load(doc: Doc, info: DocumentInfo = doc.info): void {
    doc.info = info;
    void doc.load((rows) => this.ensureFrames(doc.call, rows)).then(() => {
      this.fold(doc);
      this.updateOthers(doc);
    });
  }

  /** What is folded in the documents of the shown call. */
  folded(): { kind: string; lines: number; rows: number[] }[] {
    const docs = [...this.docs.values()].filter((doc) => doc.call === this.selection.call && doc.folds.anyFolded);
    return docs.map((doc) => ({ kind: doc.kind, lines: doc.info.lines, rows: doc.folds.foldedRows }));
  }

  foldWhenLoaded(all: { kind: string; rows: number[] }[]): void {
    for (const { kind, rows } of all) this.folds.set(`${this.selection.call}/${kind}`, rows);
  }

  private fold(doc: Doc): void {
    const key = `${doc.call}/${doc.kind}`;
    const rows = doc.rows && this.docs.get(key) === doc ? this.folds.get(key) : undefined;
    if (!rows) return;
    this.folds.delete(key);
    doc.folds.settle(rows);
    doc.changed();
  }

  private updateOthers(loaded: Doc): void {
    for (const doc of this.docs.values()) if (doc !== loaded && doc.call === loaded.call) doc.changed();
  }

  /** Documents may be built one by one, each adding frames: fetch again when rows point past those we have. */
  private async ensureFrames(call: number, rows: Rows): Promise<void> {
    this.generations.set(call, JSON.stringify(this.panel.state.calls[call]?.documents ?? []));
    await (this.framesAsked.get(call) ?? this.fetchFrames(call));
    let last = -1;
    for (const frame of rows.frame) if (frame > last) last = frame;
    if (last >= (this.known.get(call)?.frames.length ?? 0)) await this.fetchFrames(call);
  }

  private fetchFrames(call: number): Promise<void> {
    const { run } = this.panel.state;
    const asked = this.source.request("frames", { call }).then(async (reply) => {
      const given = await readFrames(reply);
      if (run === this.panel.state.run) this.count(call, given);
    });
    this.framesAsked.set(call, asked);
    asked.catch(() => this.framesAsked.delete(call));
    return asked;
  }

  private count(call: number, given: Frames): void {
    const frames = given.counting(this.selection.get().library);
    this.known.set(call, { given, frames, coloured: colouredLines(frames) });
  }

  /** Has the lines of a library count as the user's own do: "" for none, "*" for all. */
  countLibrary(library: string): void {
    this.selection.set({ library, librarySource: null, heat: null, lane: null, hover: null });
    for (const [call, { given }] of this.known) this.count(call, given);
    for (const doc of this.docs.values()) doc.changed();
  }

  /** The documents of the shown call, and the source of the chosen library beside the user's; no source of a file that names none. */
  get listed(): DocumentInfo[] {
    const listed = (this.selection.summary?.documents ?? []).filter(({ kind, lines, bytes }) => kind !== SOURCE || lines !== 1 || bytes > 0);
    const { librarySource } = this.selection.get();
    if (!librarySource) return listed;
    const at = listed.findIndex(({ kind }) => kind === SOURCE) + 1;
    return [...listed.slice(0, at), librarySource, ...listed.slice(at)];
  }

  frames(call = this.selection.call): Frames | null {
    return this.known.get(call)?.frames ?? null;
  }

  /** The colour of a source line; null where it made nothing. */
  colourOf(file: number, line: number): number | null {
    return this.known.get(this.selection.call)?.coloured.get(`${file},${line}`) ?? null;
  }

  hue(doc: Doc, row: number): number | null {
    const known = this.known.get(doc.call);
    return known && doc.rows ? hueOfRow(known.frames, known.coloured, doc.rows, row) : null;
  }

  lit(pick: Pick | null): Lit | null {
    const rows = pick && this.docs.get(`${this.selection.call}/${pick.doc}`)?.rows;
    const frames = this.frames();
    if (!pick || !rows || !frames) return null;
    const memo = this.litMemo.find((m) => m.pick === pick && m.rows === rows && m.frames === frames);
    if (memo) return memo.lit;
    const lit = litByRow(frames, rows, pick.row);
    this.litMemo = [{ pick, rows, frames, lit }, ...this.litMemo].slice(0, 2);
    return lit;
  }

  /** The rows to step through for the selection: of what it lights up the operations, where there are any. */
  litRowsOf(doc: Doc): number[] {
    const { rows } = doc;
    const { selected } = this.selection.get();
    const lit = this.lit(selected);
    if (!lit || !rows) return [];
    const all = litRows(lit, rows);
    const operations = all.filter((row) => (rows.flags[row] ?? 0) & OP);
    const found = operations.length ? operations : all;
    const alone = found.length === 1 && selected?.doc === doc.kind && found[0] === selected.row;
    return alone ? [] : found;
  }

  /** The row of the source pane that shows a line of a file, or -1. */
  sourceRow(file: number, line: number, kind = SOURCE): number {
    return this.loaded(kind)?.rowOf({ file, line }) ?? -1;
  }

  /** The row that shows a line of a file: of the user's source, else of the library's that is open. */
  sourcePlace(file: number, line: number): Place | null {
    const kinds = [SOURCE, this.selection.get().librarySource?.kind ?? ""];
    const found = kinds.map((kind) => ({ doc: kind, row: kind ? this.sourceRow(file, line, kind) : -1 }));
    return found.find(({ row }) => row >= 0) ?? null;
  }

  /** The row of the source pane on which the call's error stands, or -1. */
  errorRow(): number {
    const error = this.selection.summary?.error;
    const frames = this.frames();
    if (!error?.line || !frames) return -1;
    const file = frames.files.findIndex((f) => f.name === error.file || f.label === error.label);
    return this.sourceRow(file, error.line);
  }
}
