/** What is on screen of a timeline, and what is chosen in it: shared by the lanes and by what stands around them. */

import { messageOf } from "../../wire/errors";
import type { Documents } from "../../model/documents";
import type { Kept } from "../../model/kept";
import type { Questions } from "../../model/question";
import type { Selection } from "../../model/selection";
import { Store } from "../../model/observable";
import { type EventDetail, type EventPlace, type Overview, readEvent } from "./read";
import { TileCache } from "./tiles";
import { type Reach, type Span, around, fitted, kept, showing } from "../../parts/axis";

export interface Bookmark {
  title: string;
  at: Span;
}

export type Colouring = "line" | "group" | "name";

/** All times are in seconds since the recording's origin; events are their indices in it, -1 for none. */
export interface TimelineState {
  visible: Span;
  hovered: number;
  selected: number;
  /** What is known of the selected event; null until it has come. */
  detail: EventDetail | null;
  /** The stretch of time that the user has chosen. */
  range: Span | null;
  /** Looks (`EventLooks` in the kernel) that a search has found: their events stand out, the others fade. */
  hits: ReadonlySet<number> | null;
  bookmarks: readonly Bookmark[];
  /** Groups of lanes ("g:" and its name) and lanes ("l:" and its number) that are folded; "h:" hidden ones shown. */
  folded: ReadonlySet<string>;
  colouring: Colouring;
  /** The lane and row to scroll to; a new object each time. */
  wanted: { lane: number; row: number } | null;
}

const LANES = "timeline";
/** From a nanosecond on. */
const TIME = { least: 1e-9, room: 0.01, margin: 0.05 };

/** By source line, unless no event is known to come from one: all would be grey. */
function firstColouring({ picture }: Overview): Colouring {
  const looks = [...picture.looks.values()];
  return looks.length && !looks.some(({ row, line }) => row >= 0 || line >= 0) ? "group" : "line";
}

export class TimelineModel {
  readonly store: Store<TimelineState>;
  readonly all: Reach;
  readonly tiles: TileCache;

  constructor(
    private documents: Documents,
    private selection: Selection,
    private questions: Questions,
    readonly overview: Overview,
  ) {
    this.tiles = new TileCache(questions, selection.call, overview);
    this.all = { from: overview.base, to: overview.end, ...TIME };
    const nothing = { hovered: -1, selected: -1, detail: null, range: null, hits: null, wanted: null };
    this.store = new Store<TimelineState>({ ...nothing, visible: fitted(this.all), bookmarks: [], folded: new Set(), colouring: firstColouring(overview) });
  }

  get now(): TimelineState {
    return this.store.get();
  }

  see(span: Span): void {
    this.store.set({ visible: kept(span, this.all) });
  }

  fit(): void {
    this.store.set({ visible: fitted(this.all) });
  }

  /** Zooms to a stretch of time, with some of its surroundings. */
  zoomTo(span: Span): void {
    this.store.set({ visible: around(span, this.all) });
  }

  /** Chooses the time between two moments, in any order, as far as it was recorded. */
  choose(one: number, other: number): void {
    const inside = (time: number) => Math.max(this.all.from, Math.min(this.all.to, time));
    const [from, to] = [inside(Math.min(one, other)), inside(Math.max(one, other))];
    this.store.set({ range: to > from ? { from, to } : null });
  }

  /** Brings an event on screen; zooms in where it would be too narrow to be seen, if asked to. */
  reveal(place: EventPlace, zoom = false): void {
    const span = { from: place.start, to: place.start + place.seconds };
    const { visible } = this.now;
    const isNarrow = place.seconds * 200 < visible.to - visible.from;
    const next = zoom && isNarrow ? around(span, this.all, 0.1) : showing(visible, span, this.all);
    this.store.set({ visible: next, wanted: { lane: place.lane, row: place.row } });
  }

  /** Selects an event: its instruction and its source line are selected in all views. */
  async select(event: number): Promise<void> {
    this.store.set({ selected: event, detail: null });
    if (event < 0) return;
    try {
      const detail = await this.detail(event);
      if (this.now.selected !== event) return;
      this.store.set({ detail });
      this.selectSource(detail);
    } catch (error) {
      this.selection.say(messageOf(error));
    }
  }

  /** Marks an event as the selected one, and leaves the selection of the panel as it is. */
  mark(event: number): void {
    this.store.set({ selected: event, detail: null });
    const take = (detail: EventDetail) => this.now.selected === event && this.store.set({ detail });
    this.detail(event).then(take).catch((error: unknown) => this.selection.say(messageOf(error)));
  }

  async detail(event: number): Promise<EventDetail> {
    return readEvent(await this.questions.request("timeline event", { event }));
  }

  /** Selects the HLO instruction of an event; without one the line of source. */
  selectSource({ look }: Pick<EventDetail, "look">): void {
    const row = look.row < 0 ? this.sourceRow(look) : -1;
    if (look.row >= 0) this.selection.select("hlo", look.row, LANES);
    else if (row >= 0) this.selection.select("python", row, LANES);
  }

  /** The row of the source pane on which an event's line stands, or -1. */
  sourceRow({ file, line }: { file: string; line: number }): number {
    const at = this.documents.frames()?.files.findIndex(({ name }) => name === file) ?? -1;
    return at < 0 ? -1 : this.documents.sourceRow(at, line);
  }

  /** Folds or unfolds; see `TimelineState.folded`. */
  toggle(key: string): void {
    const folded = new Set(this.now.folded);
    if (!folded.delete(key)) folded.add(key);
    this.store.set({ folded });
  }

  bookmark(at: Span, title: string): void {
    this.store.set({ bookmarks: [...this.now.bookmarks, { title, at }] });
  }
}

/** The model of the shown call's timeline: kept while its overview is the same. */
export function modelOf(documents: Documents, selection: Selection, questions: Questions, kept: Kept, overview: Overview): TimelineModel {
  const key = `timeline ${selection.call}`;
  const known = kept.recall(key) as TimelineModel | undefined;
  if (known?.overview === overview) return known;
  const made = new TimelineModel(documents, selection, questions, overview);
  kept.keep(key, made);
  return made;
}
