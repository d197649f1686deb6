import { Question } from "./question";
import { OP, type Rows } from "../wire/columns";
import { Doc, SOURCE } from "./document";
import { type Frames, readFrames } from "./frames";
import { type Lit, colouredLines, hueOfRow, litByRow, litRows } from "./links";
import { type Progress, poll } from "../wire/poll";
import type { Params, Reply, Source } from "../wire/source";
import type { DocumentInfo, PanelState, Stage, Summary } from "../wire/state";
import { NOTHING_SELECTED, type Pick, type Selection } from "./selection";
import { Store } from "./store";

const MOST_KEPT = 50;
const MOST_EXTRAS = 8;

interface Known {
  /** As the kernel gave them, and as the chosen library counts. */
  given: Frames;
  frames: Frames;
  coloured: Map<string, number>;
}

interface Place {
  doc: string;
  row: number;
}

/** All that one widget model has fetched and all that its user has done; outlives the DOM that shows it. */
export class Session {
  readonly store = new Store<Selection>(NOTHING_SELECTED);
  private docs = new Map<string, Doc>();
  private known = new Map<number, Known>();
  private generations = new Map<number, string>();
  /** What views have asked the kernel, last asked last, and what else they want to find when they are drawn anew. */
  private questions = new Map<string, Question<unknown>>();
  private kept = new Map<string, unknown>();
  /** Rows to fold once the document is there. */
  private folds = new Map<string, number[]>();
  private framesAsked = new Map<number, Promise<void>>();
  private back: Place[] = [];
  state: PanelState;
  private litMemo: { pick: Pick; rows: Rows; frames: Frames; lit: Lit | null }[] = [];
  private listeners = new Set<() => void>();

  /** How often listeners have been told of the kernel's state. */
  notices = 0;
  /** Date.now() when the state came, and how long its running stage had run by then where that is known better. */
  private came = { at: Date.now(), elapsed: null as number | null };
  /** Whether a stage ran by the first state, and no kernel answers for it: it may be long gone. */
  isOrphaned = false;

  /** `id` is that of the panel in its kernel, "" where there is none. */
  constructor(
    readonly source: Source,
    readonly id = "",
  ) {
    this.state = source.state();
    source.onState(() => this.takeState());
    if (this.state.busy) void this.askElapsed();
  }

  /** Date.now() at which a stage that runs has begun. */
  since(stage: Stage): number {
    return this.came.at - 1000 * (this.came.elapsed ?? stage.elapsed ?? 0);
  }

  /** The first state may be one that the kernel has pushed long ago, to a page that is gone. */
  private async askElapsed(): Promise<void> {
    const { came } = this;
    const reply = await this.source.request("elapsed", {}).catch(() => null);
    if (came !== this.came) return;
    if (!reply) {
      this.isOrphaned = true;
      this.tell();
      return;
    }
    const { elapsed } = reply.result;
    if (typeof elapsed !== "number") return;
    this.came = { at: Date.now(), elapsed };
    this.tell();
  }

  get call(): number {
    return Math.min(this.store.get().call, Math.max(0, this.state.calls.length - 1));
  }

  get summary(): Summary | null {
    return this.state.calls[this.call] ?? null;
  }

  onState(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private takeState(): void {
    const { run } = this.state;
    this.state = this.source.state();
    if (this.state.run !== run) this.forget();
    this.isOrphaned = false;
    this.came = { at: Date.now(), elapsed: null };
    this.state.calls.forEach((summary, call) => this.refresh(call, summary));
    this.tell();
  }

  /** The cell ran again in the same panel: the documents are others; the tab and the panes stay, for the user chose them. */
  private forget(): void {
    for (const known of [this.docs, this.known, this.generations, this.questions, this.kept, this.framesAsked, this.folds]) known.clear();
    this.back = [];
    this.litMemo = [];
    this.store.set({ hover: null, selected: null, follow: null, heat: null, lane: null, warned: null, librarySource: null, kernel: null, stages: [] });
  }

  private tell(): void {
    this.notices++;
    for (const listener of [...this.listeners]) listener();
  }

  /**
   * A further stage may add source files and frames: what is open is fetched anew, the user stays where they are. What
   * could not be fetched is asked for again, for a kernel that pushes its state is there.
   */
  private refresh(call: number, summary: Summary): void {
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
  doc(kind: string, call = this.call): Doc | null {
    const found = this.docs.get(`${call}/${kind}`);
    if (found) return found;
    const { librarySource } = this.store.get();
    const info = this.state.calls[call]?.documents.find((d) => d.kind === kind) ?? (librarySource?.kind === kind ? librarySource : null);
    if (!info) return null;
    const doc = new Doc(this.source, call, info);
    this.docs.set(`${call}/${kind}`, doc);
    this.load(doc, info);
    return doc;
  }

  /** A document that the summary does not name: a kernel's text, the module after a pass. The last few are kept. */
  further(info: DocumentInfo): Doc {
    const key = `${this.call}/${info.kind}`;
    const doc = this.docs.get(key) ?? new Doc(this.source, this.call, info);
    if (!this.docs.has(key)) this.load(doc, info);
    this.docs.delete(key);
    this.docs.set(key, doc);
    const extras = [...this.docs.values()].filter((d) => !this.isListed(d));
    const { selected } = this.store.get();
    for (const old of extras.slice(0, -MOST_EXTRAS)) {
      if (old.kind !== selected?.doc) this.docs.delete(`${old.call}/${old.kind}`);
    }
    return doc;
  }

  private isListed(doc: Doc): boolean {
    return this.state.calls[doc.call]?.documents.some((d) => d.kind === doc.kind) ?? false;
  }

  /** Opens the passes and follows the instruction on a row of the optimised module through them. */
  follow(doc: string, row: number): void {
    if (doc !== "hlo" || !this.summary?.views.includes("passes")) return this.say("Select a line of the optimised HLO to follow it through the passes.");
    this.store.set({ view: "passes", follow: { doc, row, from: "" } });
  }

  /** The document of the shown call, if it has been asked for. */
  loaded(kind: string): Doc | null {
    return this.docs.get(`${this.call}/${kind}`) ?? null;
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
    const docs = [...this.docs.values()].filter((doc) => doc.call === this.call && doc.folds.anyFolded);
    return docs.map((doc) => ({ kind: doc.kind, lines: doc.info.lines, rows: doc.folds.foldedRows }));
  }

  foldWhenLoaded(all: { kind: string; rows: number[] }[]): void {
    for (const { kind, rows } of all) this.folds.set(`${this.call}/${kind}`, rows);
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
    this.generations.set(call, JSON.stringify(this.state.calls[call]?.documents ?? []));
    await (this.framesAsked.get(call) ?? this.fetchFrames(call));
    let last = -1;
    for (const frame of rows.frame) if (frame > last) last = frame;
    if (last >= (this.known.get(call)?.frames.length ?? 0)) await this.fetchFrames(call);
  }

  private fetchFrames(call: number): Promise<void> {
    const { run } = this.state;
    const asked = this.source.request("frames", { call }).then(async (reply) => {
      const given = await readFrames(reply);
      if (run === this.state.run) this.count(call, given);
    });
    this.framesAsked.set(call, asked);
    asked.catch(() => this.framesAsked.delete(call));
    return asked;
  }

  private count(call: number, given: Frames): void {
    const frames = given.counting(this.store.get().library);
    this.known.set(call, { given, frames, coloured: colouredLines(frames) });
  }

  /** Has the lines of a library count as the user's own do: "" for none, "*" for all. */
  countLibrary(library: string): void {
    this.store.set({ library, librarySource: null, heat: null, lane: null, hover: null });
    for (const [call, { given }] of this.known) this.count(call, given);
    for (const doc of this.docs.values()) doc.changed();
  }

  /** The documents of the shown call, and the source of the chosen library beside the user's; no source of a file that names none. */
  get documents(): DocumentInfo[] {
    const listed = (this.summary?.documents ?? []).filter(({ kind, lines, bytes }) => kind !== SOURCE || lines !== 1 || bytes > 0);
    const { librarySource } = this.store.get();
    if (!librarySource) return listed;
    const at = listed.findIndex(({ kind }) => kind === SOURCE) + 1;
    return [...listed.slice(0, at), librarySource, ...listed.slice(at)];
  }

  frames(call = this.call): Frames | null {
    return this.known.get(call)?.frames ?? null;
  }

  /** The colour of a source line; null where it made nothing. */
  colourOf(file: number, line: number): number | null {
    return this.known.get(this.call)?.coloured.get(`${file},${line}`) ?? null;
  }

  hue(doc: Doc, row: number): number | null {
    const known = this.known.get(doc.call);
    return known && doc.rows ? hueOfRow(known.frames, known.coloured, doc.rows, row) : null;
  }

  lit(pick: Pick | null): Lit | null {
    const rows = pick && this.docs.get(`${this.call}/${pick.doc}`)?.rows;
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
    const { selected } = this.store.get();
    const lit = this.lit(selected);
    if (!lit || !rows) return [];
    const all = litRows(lit, rows);
    const operations = all.filter((row) => (rows.flags[row] ?? 0) & OP);
    const found = operations.length ? operations : all;
    const alone = found.length === 1 && selected?.doc === doc.kind && found[0] === selected.row;
    return alone ? [] : found;
  }

  select(doc: string, row: number, from = doc): void {
    this.store.set({ selected: { doc, row, from } });
  }

  /** From another view: opens the code, with the row's pane, and selects the row. */
  show(doc: string, row: number): void {
    this.store.set({ view: "code", active: doc, hover: null, selected: { doc, row, from: "" } });
  }

  /** Asks until there is an answer, however long the kernel computes. Rejects as `request`, and when `signal` aborts. */
  ask(method: string, params: Params, onProgress?: (progress: Progress) => void, signal?: AbortSignal): Promise<Reply> {
    return poll(() => this.source.request(method, params), onProgress, signal);
  }

  /** The question to the kernel about the shown call, one for all views that ask it; see `useQuestion`. */
  asked<T>(method: string, params: Params, read: (reply: Reply) => T | Promise<T>): Question<T> {
    const all = { ...params, call: this.call };
    const key = JSON.stringify([method, all, this.summary?.documents, this.state.run]);
    const found = this.questions.get(key) as Question<T> | undefined;
    const asked = found ?? new Question(this.source, method, all, read);
    this.questions.delete(key);
    this.questions.set(key, asked as Question<unknown>);
    const idle = [...this.questions].find(([, one]) => !one.inUse && (one as unknown) !== asked);
    if (this.questions.size > MOST_KEPT && idle) this.questions.delete(idle[0]);
    return asked;
  }

  recall(key: string): unknown {
    return this.kept.get(key);
  }

  /** Remembers something for a view that is drawn anew; what was kept longest ago goes first. */
  keep(key: string, value: unknown): void {
    this.kept.delete(key);
    this.kept.set(key, value);
    if (this.kept.size > MOST_KEPT) this.kept.delete([...this.kept.keys()][0] as string);
  }

  /** Selects a row of the same document and remembers the way back. */
  go(doc: string, from: number, to: number): void {
    this.back = [...this.back.slice(-99), { doc, row: from }];
    this.select(doc, to, "");
  }

  goBack(): void {
    const place = this.back.pop();
    if (place) this.select(place.doc, place.row, "");
    else this.say("Nothing to go back to.");
  }

  get canGoBack(): boolean {
    return this.back.length > 0;
  }

  say(message: string): void {
    this.store.set({ message });
  }

  pickCall(call: number): void {
    this.back = [];
    const has = this.state.calls[call]?.views ?? [];
    const { view } = this.store.get();
    this.store.set({ call, active: SOURCE, librarySource: null, heat: null, lane: null, warned: null, hover: null, selected: null, follow: null, view: !view || has.includes(view) ? view : "code" });
  }

  /** The row of the source pane that shows a line of a file, or -1. */
  sourceRow(file: number, line: number, kind = SOURCE): number {
    const rows = this.loaded(kind)?.rows;
    if (!rows?.file || !rows.number) return -1;
    for (let row = 0; row < rows.number.length; row++) {
      if (rows.file[row] === file && rows.number[row] === line) return row;
    }
    return -1;
  }

  /** The row that shows a line of a file: of the user's source, else of the library's that is open. */
  sourcePlace(file: number, line: number): Place | null {
    const kinds = [SOURCE, this.store.get().librarySource?.kind ?? ""];
    const found = kinds.map((kind) => ({ doc: kind, row: kind ? this.sourceRow(file, line, kind) : -1 }));
    return found.find(({ row }) => row >= 0) ?? null;
  }

  /** The row of the source pane on which the call's error stands, or -1. */
  errorRow(): number {
    const error = this.summary?.error;
    const frames = this.frames();
    if (!error?.line || !frames) return -1;
    const file = frames.files.findIndex((f) => f.name === error.file || f.label === error.label);
    return this.sourceRow(file, error.line);
  }
}
