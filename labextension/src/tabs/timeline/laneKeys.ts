/** What keys do in the lanes. */

import type { TimelineModel } from "./model";
import { lengthOf, moved, zoomed } from "../../parts/axis";

const STEP = 0.15;
const FACTOR = 1.5;

interface Keyed {
  model: TimelineModel;
  /** The moment under the pointer; null where it is elsewhere. */
  pointer: number | null;
  scrollBy: (rows: number) => void;
  /** To the next or previous event of the selected line or instruction. */
  step: (by: 1 | -1) => void;
  /** The event under the pointer, -1 for none. */
  hovered: number;
}

function zoom({ model, pointer }: Keyed, factor: number): void {
  const { visible } = model.now;
  model.see(zoomed(visible, factor, pointer ?? (visible.from + visible.to) / 2, model.all));
}

function pan({ model }: Keyed, share: number): void {
  const { visible } = model.now;
  model.see(moved(visible, share * lengthOf(visible), model.all));
}

/** Marks the chosen stretch of time; without one what is on screen. */
function addBookmark({ model }: Keyed): void {
  const { range, detail, visible, bookmarks } = model.now;
  model.bookmark(range ?? visible, detail?.name.slice(0, 60) || `Bookmark ${bookmarks.length + 1}`);
}

function zoomToChosen({ model, hovered }: Keyed): void {
  const { detail, range } = model.now;
  if (range) model.zoomTo(range);
  else if (detail) model.zoomTo({ from: detail.start, to: detail.start + detail.seconds });
  else if (hovered >= 0) void model.select(hovered);
}

const ACTIONS: Record<string, (on: Keyed) => void> = {
  w: (on) => zoom(on, 1 / FACTOR),
  s: (on) => zoom(on, FACTOR),
  "+": (on) => zoom(on, 1 / FACTOR),
  "=": (on) => zoom(on, 1 / FACTOR),
  "-": (on) => zoom(on, FACTOR),
  a: (on) => pan(on, -STEP),
  d: (on) => pan(on, STEP),
  arrowleft: (on) => pan(on, -STEP),
  arrowright: (on) => pan(on, STEP),
  arrowup: (on) => on.scrollBy(-3),
  arrowdown: (on) => on.scrollBy(3),
  pageup: (on) => on.scrollBy(-20),
  pagedown: (on) => on.scrollBy(20),
  home: (on) => pan(on, -Infinity),
  end: (on) => pan(on, Infinity),
  f: ({ model }) => model.fit(),
  "0": ({ model }) => model.fit(),
  b: addBookmark,
  r: ({ model }) => model.choose(model.now.visible.from, model.now.visible.to),
  n: ({ step }) => step(1),
  p: ({ step }) => step(-1),
  enter: zoomToChosen,
};

/** Gives the keyboard to the lanes, when what had it goes away. */
export function focusLanes(from: EventTarget | null): void {
  (from as HTMLElement | null)?.closest(".jxs-timeline")?.querySelector<HTMLElement>(".jxs-tl-ground")?.focus({ preventScroll: true });
}

/** Whether the key was one of the lanes'. Escape gives up the range first, then the event; then it is the panel's. */
export function laneKey(event: KeyboardEvent, on: Keyed): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { range, selected } = on.model.now;
  if (event.key === "Escape") {
    if (range) on.model.store.set({ range: null });
    else if (selected >= 0) on.model.store.set({ selected: -1, detail: null });
    else return false;
    return true;
  }
  const action = ACTIONS[event.key.toLowerCase()];
  action?.(on);
  return action !== undefined;
}
