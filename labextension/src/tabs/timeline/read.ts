/** What the kernel says of a timeline, checked and capped. */

import { capped, count, fields, list, number, sentences, text, whole } from "../../wire/check";
import { Columns } from "../../wire/columns";
import { partOf } from "../../wire/texts";
import type { Reply } from "../../wire/source";

const MOST_LANES = 20_000;
const MOST_ROWS = 64;
const MOST_LOOKS = 200_000;
const MOST_LEVELS = 64;
const MOST_EVENTS = 2000;
const LONGEST_NAME = 10_000;

export interface Counter {
  unit: string;
  low: number;
  high: number;
  samples: number;
}

export interface Lane {
  lane: number;
  group: string;
  name: string;
  kind: string;
  hidden: boolean;
  /** Nesting depths that are drawn. */
  rows: number;
  events: number;
  /** Events nested too deep to be drawn. */
  deeper: number;
  counter: Counter | null;
}

/** What events of one name, kind and instruction have in common. Unknown: row and line -1, texts "". */
export interface Look {
  name: string;
  kind: number;
  /** Of `Overview.groups`. */
  group: number;
  op: string;
  /** Of the HLO document. */
  row: number;
  file: string;
  label: string;
  line: number;
  inferred: boolean;
}

/** Segments of one lane in one tile, as columns; see Segments in tiles.py. */
export interface Segments {
  length: number;
  row: Uint8Array;
  left: Float32Array;
  right: Float32Array;
  event: Int32Array;
  look: Int32Array;
  busy: Uint8Array;
  count: Int32Array;
  seconds: Float32Array;
}

export interface Tile {
  /** By lane. */
  lanes: Map<number, Segments>;
  looks: Map<number, Look>;
}

export interface Overview {
  title: string;
  /** Whether nothing ran, and its times are estimates. */
  predicted: boolean;
  /** "measured" or "predicted", which of them is shown; all that there are. */
  of: string;
  kinds: string[];
  /** Seconds since the recording's origin. */
  base: number;
  end: number;
  /** Bins of a tile, and the length of one at level 0 in seconds; each level halves it. */
  bins: number;
  bin: number;
  levels: number;
  events: number;
  total: number;
  lanes: Lane[];
  lanesLeftOut: number;
  groups: { name: string; seconds: number }[];
  /** The first lanes at level 0. */
  picture: Tile;
}

/** Where an event is drawn, in seconds since the recording's origin. */
export interface EventPlace {
  event: number;
  lane: number;
  row: number;
  start: number;
  seconds: number;
}

export interface EventDetail extends EventPlace {
  name: string;
  kind: string;
  self: number;
  run: number;
  look: Look;
  module: string;
  category: string;
  scope: string;
  partners: EventPlace[];
}

const real = (raw: unknown): number => number(raw) ?? 0;
const index = (raw: unknown): number => (number(raw) === null ? -1 : whole(raw));

function readLane(raw: unknown): Lane {
  const lane = fields(raw);
  const counter = lane.counter === undefined ? null : fields(lane.counter);
  return {
    lane: count(lane.lane),
    group: text(lane.group),
    name: text(lane.name),
    kind: text(lane.kind),
    hidden: lane.hidden === true,
    rows: Math.max(1, Math.min(MOST_ROWS, count(lane.rows))),
    events: count(lane.events),
    deeper: count(lane.deeper),
    counter: counter && { unit: text(counter.unit), low: real(counter.low), high: real(counter.high), samples: count(counter.samples) },
  };
}

export function readLook(raw: unknown): Look {
  const look = fields(raw);
  return {
    name: capped(look.name, LONGEST_NAME),
    kind: count(look.kind),
    group: index(look.group),
    op: text(look.op),
    row: index(look.row),
    file: text(look.file),
    label: text(look.label),
    line: index(look.line),
    inferred: look.inferred === true,
  };
}

function readSegments(columns: Columns, length: number): Segments {
  return {
    length,
    row: columns.sized("row", new Uint8Array(length)),
    left: columns.sized("left", new Float32Array(length)),
    right: columns.sized("right", new Float32Array(length)),
    event: columns.ints("event", length, 0),
    look: columns.ints("look", length, 0),
    busy: columns.sized("busy", new Uint8Array(length)),
    count: columns.ints("count", length, 0),
    seconds: columns.sized("seconds", new Float32Array(length)),
  };
}

function part(all: Segments, from: number, to: number): Segments {
  const columns = Object.entries(all).map(([name, column]) => [name, typeof column === "number" ? to - from : column.subarray(from, to)]);
  return Object.fromEntries(columns) as Segments;
}

/** The segments of a reply's lanes, in the order in which they were asked for. */
export async function readTile(reply: Reply, lanes: number[]): Promise<Tile> {
  const about = reply.result;
  const columns = await Columns.of(reply);
  const all = readSegments(columns, columns.found.size ? Math.min(...[...columns.found.values()].map((column) => column.length)) : 0);
  const counts = list(about.counts, lanes.length).map(count);
  const found = new Map<number, Segments>();
  let at = 0;
  lanes.forEach((lane, i) => {
    const end = Math.min(all.length, at + (counts[i] ?? 0));
    found.set(lane, part(all, at, end));
    at = end;
  });
  return { lanes: found, looks: new Map(list(about.looks, MOST_LOOKS).map((raw) => [index(fields(raw).look), readLook(raw)])) };
}

export async function readOverview(reply: Reply): Promise<Overview> {
  const { result } = reply;
  const picture = fields(result.picture);
  return {
    title: text(result.title),
    predicted: result.predicted === true,
    of: text(result.of),
    kinds: sentences(result.kinds),
    base: real(result.base),
    end: Math.max(real(result.base), real(result.end)),
    bins: Math.max(1, count(result.bins)),
    bin: Math.max(Number.MIN_VALUE, real(result.bin)),
    levels: Math.max(1, Math.min(MOST_LEVELS, count(result.levels))),
    events: count(result.events),
    total: count(result.total),
    lanes: list(result.lanes, MOST_LANES).map(readLane),
    lanesLeftOut: count(result.left_out),
    groups: list(result.groups, MOST_LOOKS).map((raw) => ({ name: text(fields(raw).name), seconds: real(fields(raw).seconds) })),
    picture: await readTile(partOf(reply, picture), list(picture.lanes, MOST_LANES).map(count)),
  };
}

export function readPlace(raw: unknown): EventPlace {
  const place = fields(raw);
  return { event: index(place.event), lane: index(place.lane), row: count(place.row), start: real(place.start), seconds: real(place.seconds) };
}

export function readEvent({ result }: Reply): EventDetail {
  return {
    ...readPlace(result),
    name: capped(result.name, LONGEST_NAME),
    kind: text(result.kind),
    self: real(result.self),
    run: index(result.run),
    look: readLook(result),
    module: text(result.module),
    category: text(result.category),
    scope: capped(result.scope, LONGEST_NAME),
    partners: list(result.partners).map(readPlace),
  };
}

export interface EventsOf {
  count: number;
  seconds: number;
  events: EventPlace[];
}

export const readEventsOf = ({ result }: Reply): EventsOf => ({
  count: count(result.count),
  seconds: real(result.seconds),
  events: list(result.events, MOST_EVENTS).map(readPlace),
});
