/** The tiles that have come, and those that are asked for: what is nearest to what is on screen, a few at a time. */

import { Refusal, messageOf } from "../../wire/errors";
import { Observable } from "../../model/observable";
import type { Questions } from "../../model/question";
import { type Look, type Overview, type Segments, type Tile, readTile } from "./read";
import type { Span } from "../../parts/axis";

const MOST_ASKED = 3;
const MOST_LANES = 64;
/** Segments that are kept; those not used for longest go first. */
const MOST_SEGMENTS = 3_000_000;
const RETRY_MS = 4000;

/** The segments of a lane in a tile; their looks are indices into `TileCache.looks`. */
export interface Part extends Segments {
  /** Where the tile begins, and how long a bin is, in seconds. */
  start: number;
  bin: number;
  /** Where the segments of each row begin, and those of the last end. */
  rowStart: Int32Array;
}

function rowStarts(row: Uint8Array): Int32Array {
  const starts = new Int32Array((row.at(-1) ?? 0) + 2);
  for (const one of row) if (one + 1 < starts.length) starts[one + 1] = (starts[one + 1] as number) + 1;
  for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
  return starts;
}

interface Wish {
  level: number;
  tile: number;
  lanes: number[];
}

const keyOf = (level: number, tile: number, lane: number): string => `${level}/${tile}/${lane}`;

export class TileCache extends Observable {
  readonly looks: Look[] = [];
  /** Numbers of the kernel's looks, by index in `looks`. */
  readonly numbers: number[] = [];
  /** Why the last tiles did not come, "" where they did; and whether finer ones exist at all. */
  problem = "";
  isAbsent = false;
  private places = new Map<number, number>();
  private parts = new Map<string, Part>();
  private size = 0;
  private asked = new Set<string>();
  private running = 0;
  private wishes: Wish[] = [];
  private quietUntil = 0;

  constructor(
    private questions: Questions,
    private call: number,
    private overview: Overview,
  ) {
    super();
    this.add(0, 0, overview.picture);
  }

  /** The level whose bins are as long as a pixel, or shorter. */
  levelOf(span: Span, width: number): number {
    const pixel = (span.to - span.from) / Math.max(1, width);
    const level = Math.ceil(Math.log2(this.overview.bin / pixel) - 1e-9);
    return Math.max(0, Math.min(this.overview.levels - 1, level));
  }

  /** The length of a tile, in seconds. */
  tileLength(level: number): number {
    return this.overview.bins * this.overview.bin * 2 ** -level;
  }

  /** The first and last tile of a level that are on screen. */
  tilesOf(span: Span, level: number): [number, number] {
    const at = (seconds: number) => Math.floor((seconds - this.overview.base) / this.tileLength(level));
    const last = 2 ** level - 1;
    const end = Math.min(span.to, this.overview.end);
    return [Math.max(0, Math.min(last, at(span.from))), Math.max(0, Math.min(last, at(end)))];
  }

  /** Where a tile begins, in seconds. */
  start(level: number, tile: number): number {
    return this.overview.base + tile * this.tileLength(level);
  }

  /** The lane in a tile, as finely as it has come. */
  part(level: number, tile: number, lane: number): Part | null {
    for (let up = 0; up <= level; up++) {
      const key = keyOf(level - up, Math.floor(tile / 2 ** up), lane);
      const part = this.parts.get(key);
      if (!part) continue;
      if (up === 0) this.touch(key, part);
      return part;
    }
    return null;
  }

  /** Asks for what is missing of these lanes; what was wished for before and is not asked for yet is forgotten. */
  want(level: number, [first, last]: [number, number], lanes: number[]): void {
    this.wishes = [];
    const middle = (first + last) / 2;
    const tiles = Array.from({ length: last - first + 1 }, (_, i) => first + i).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const tile of tiles) {
      const missing = lanes.filter((lane) => !this.parts.has(keyOf(level, tile, lane)) && !this.asked.has(keyOf(level, tile, lane)));
      for (let at = 0; at < missing.length; at += MOST_LANES) this.wishes.push({ level, tile, lanes: missing.slice(at, at + MOST_LANES) });
    }
    this.next();
  }

  get isWaiting(): boolean {
    return this.running > 0;
  }

  private next(): void {
    while (this.running < MOST_ASKED && Date.now() >= this.quietUntil) {
      const wish = this.wishes.shift();
      if (!wish) return;
      void this.ask(wish);
    }
  }

  private async ask({ level, tile, lanes }: Wish): Promise<void> {
    const keys = lanes.map((lane) => keyOf(level, tile, lane));
    for (const key of keys) this.asked.add(key);
    this.running++;
    try {
      const reply = await this.questions.request("timeline tile", { call: this.call, level, tile, lanes: lanes.join(" ") });
      this.add(level, tile, await readTile(reply, lanes));
      this.problem = "";
    } catch (error) {
      this.isAbsent = error instanceof Refusal && error.kind === "absent";
      this.problem = messageOf(error);
      this.quietUntil = this.isAbsent ? Infinity : Date.now() + RETRY_MS;
    } finally {
      this.running--;
      for (const key of keys) this.asked.delete(key);
    }
    this.changed();
    this.next();
  }

  private add(level: number, tile: number, { lanes, looks }: Tile): void {
    const bin = this.overview.bin * 2 ** -level;
    const start = this.start(level, tile);
    for (const [number, look] of looks) this.intern(number, look);
    for (const [lane, segments] of lanes) {
      const look = segments.look.map((number) => this.places.get(number) ?? -1);
      this.touch(keyOf(level, tile, lane), { ...segments, look, start, bin, rowStart: rowStarts(segments.row) });
    }
    this.forget();
  }

  private intern(number: number, look: Look): void {
    if (this.places.has(number)) return;
    this.places.set(number, this.looks.length);
    this.looks.push(look);
    this.numbers.push(number);
  }

  private touch(key: string, part: Part): void {
    if (!this.parts.delete(key)) this.size += part.length;
    this.parts.set(key, part);
  }

  /** The coarsest level stays: it is what is seen while finer tiles are on their way. */
  private forget(): void {
    for (const [key, part] of this.parts) {
      if (this.size <= MOST_SEGMENTS) return;
      if (key.startsWith("0/")) continue;
      this.parts.delete(key);
      this.size -= part.length;
    }
  }
}
