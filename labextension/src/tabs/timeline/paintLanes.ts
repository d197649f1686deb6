/** Lanes as pixels. Of a row one line of pixels is filled and the others are copies of it, however many events it has. */

import type { Item } from "./laneItems";
import { ROW } from "./laneItems";
import { type Rgb, mixed } from "./palette";
import type { Part, TileCache } from "./tiles";
import type { Span } from "../../parts/axis";

/** What is drawn, in pixels of the screen. */
interface Picture {
  pixels: Uint32Array;
  width: number;
  height: number;
  /** Pixels of the screen in one of the page. */
  scale: number;
}

/** Of each look, by its index: its colour, and whether it stands back because others are chosen. */
export interface Ink {
  colour: (look: number) => Rgb;
  faded: (look: number) => boolean;
  background: Rgb;
  /** Of the colour in an event, where it is fully busy. */
  strength: number;
}

/** A name to be written: in pixels of the page. */
export interface Name {
  look: number;
  x: number;
  y: number;
  width: number;
}

const LEAST_NAME = 36;
/** Of a bin that is hardly busy, so that it can be seen at all. */
const LEAST_SHARE = 0.25;
const FADED = 0.3;
const GAP = 2;

export interface View {
  cache: TileCache;
  items: readonly Item[];
  span: Span;
  /** From the top of the first item to the top of the view, in pixels of the page. */
  scroll: number;
}

/** The tiles of a lane from left to right, as finely as they have come, each with the time in which it is drawn. */
export function partsOf({ cache, span }: View, level: number, lane: number): { part: Part; from: number; to: number }[] {
  const [first, last] = cache.tilesOf(span, level);
  const length = cache.tileLength(level);
  const parts: { part: Part; from: number; to: number }[] = [];
  for (let tile = first; tile <= last; tile++) {
    const part = cache.part(level, tile, lane);
    if (!part) continue;
    const from = cache.start(level, tile);
    const before = parts.at(-1);
    if (before?.part === part) before.to = from + length;
    else parts.push({ part, from, to: from + length });
  }
  return parts;
}

/** One line of pixels: events that fill pixels, and of those that share them the busy part and what takes the most. */
class Line {
  readonly pixels: Uint32Array;
  private readonly busy: Float32Array;
  private readonly look: Int32Array;
  private readonly most: Float32Array;

  constructor(readonly width: number) {
    this.pixels = new Uint32Array(width);
    this.busy = new Float32Array(width);
    this.look = new Int32Array(width);
    this.most = new Float32Array(width);
  }

  clear(): void {
    this.pixels.fill(0);
    this.busy.fill(0);
    this.most.fill(0);
  }

  /** A part of these pixels is busy with events that look so. */
  share(left: number, right: number, share: number, look: number): void {
    const end = Math.min(this.width, Math.ceil(right));
    for (let x = Math.max(0, Math.floor(left)); x < end; x++) {
      const part = share * (Math.min(right, x + 1) - Math.max(left, x));
      this.busy[x] = (this.busy[x] as number) + part;
      if (part <= (this.most[x] as number)) continue;
      this.most[x] = part;
      this.look[x] = look;
    }
  }

  fill(left: number, right: number, colour: number): void {
    this.pixels.fill(colour, Math.max(0, left), Math.min(this.width, right));
  }

  /** What shares pixels goes under what fills them. */
  blend(colour: (look: number, share: number) => number): void {
    for (let x = 0; x < this.width; x++) {
      if ((this.most[x] as number) > 0 && !this.pixels[x]) this.pixels[x] = colour(this.look[x] as number, Math.min(1, this.busy[x] as number));
    }
  }
}

/** Draws the lanes that are on screen, and gives the names that have room. */
export function paintLanes(picture: Picture, view: View, ink: Ink, level: number): Name[] {
  const { pixels, width, height, scale } = picture;
  const names: Name[] = [];
  const line = new Line(width);
  pixels.fill(0);
  for (const item of view.items) {
    if (!item.lane || item.lane.counter) continue;
    const parts = partsOf(view, level, item.lane.lane);
    for (let row = 0; row < item.rows; row++) {
      const y = item.top + row * ROW - view.scroll;
      if (y + ROW <= 0 || y * scale >= height) continue;
      line.clear();
      paintRow(line, parts, row, view, ink, { names, y, scale });
      copyDown(pixels, line.pixels, width, Math.round(y * scale), Math.min(height, Math.round((y + ROW - GAP) * scale)));
    }
  }
  return names;
}

function copyDown(pixels: Uint32Array, line: Uint32Array, width: number, top: number, bottom: number): void {
  for (let y = Math.max(0, top); y < bottom; y++) pixels.set(line, y * width);
}

interface Label extends Name {
  event: number;
  listed: boolean;
}

interface Writing {
  names: Name[];
  y: number;
  scale: number;
}

function paintRow(line: Line, parts: { part: Part; from: number; to: number }[], row: number, view: View, ink: Ink, writing: Writing): void {
  const perSecond = line.width / (view.span.to - view.span.from);
  const strong = (look: number, share: number) => mixed(ink.colour(look), ink.background, ink.strength * share * (ink.faded(look) ? FADED : 1));
  let name = null as Label | null;
  for (const { part, from, to } of parts) {
    const [first, last] = [(from - view.span.from) * perSecond, (to - view.span.from) * perSecond];
    const [base, bin] = [(part.start - view.span.from) * perSecond, part.bin * perSecond];
    for (let i = part.rowStart[row] ?? 0; i < (part.rowStart[row + 1] ?? 0); i++) {
      const left = Math.max(first, base + (part.left[i] as number) * bin);
      const right = Math.min(last, base + (part.right[i] as number) * bin);
      if (right <= 0 || left >= line.width || right <= left) continue;
      const look = part.look[i] as number;
      if ((part.busy[i] as number) < 255 || right - left < 1.5) {
        line.share(left, Math.max(right, left + 0.5), Math.max(LEAST_SHARE, (part.busy[i] as number) / 255), look);
        continue;
      }
      const hasEnd = right < last - 0.01 && right - left > 3;
      line.fill(Math.round(left), Math.round(right) - Number(hasEnd), strong(look, 1));
      const event = part.event[i] as number;
      if (name?.event === event) name.width = right / writing.scale - name.x;
      else if (isOne(part, i)) name = nameAt(look, event, left, right, writing);
      if (name?.event !== event || name.listed || name.width < LEAST_NAME) continue;
      name.listed = true;
      writing.names.push(name);
    }
  }
  line.blend(strong);
}

/** Whether a segment is one event, and not several in a bin. */
export const isOne = (part: Part, i: number): boolean => part.count[i] === 1 && (part.seconds[i] as number) * 1.00001 >= part.bin;

function nameAt(look: number, event: number, left: number, right: number, { y, scale }: Writing): Label {
  const x = Math.max(0, left) / scale;
  return { look, x, y, width: right / scale - x, event, listed: false };
}
