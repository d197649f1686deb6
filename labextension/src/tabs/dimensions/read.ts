/** The named dimensions of a program, as the kernel tells them, checked and capped. */

import { count, fields, list, number, sentences, text, texts } from "../../wire/check";
import { Columns } from "../../wire/columns";
import type { Reply } from "../../wire/source";

/** Collectives that are alike. */
export interface SplitCollective {
  count: number;
  kind: string;
  /** Lower bound of what each device sends in all runs; null where it is not known. */
  sent: number | null;
  runs: number | null;
  line: string;
}

export interface Dimension {
  name: string;
  /** "d3". */
  number: string;
  size: number;
  /** Numbers of devices that it can be split over. */
  splits: string;
  /** How many it was split over, 0 for none. */
  devices: number;
  sent: number | null;
  why: string;
  collectives: SplitCollective[];
  /** The dimensions that it meets in a matrix product or a convolution, by place. */
  meets: number[];
  /** Of its operations, the one that costs the most first. */
  lines: string[];
  about: string[];
}

export interface NamedArgument {
  name: string;
  /** By axis the place of its dimension, -1 for none. */
  axes: number[];
  shape: number[];
  /** As many arguments of equal paths but for numbers. */
  alike: number;
}

/** A size in a line of the jaxpr: its characters, and its dimension by place. */
export interface AxisInText {
  start: number;
  end: number;
  place: number;
}

export interface Dimensions {
  dimensions: Dimension[];
  arguments: NamedArgument[];
  /** Arguments that are not among them. */
  more: number;
  /** By row of the jaxpr the sizes whose dimension is known, from left to right. */
  inJaxpr: Map<number, AxisInText[]>;
  headline: string;
  notes: string[];
}

const MOST = 500;
const MOST_COLLECTIVES = 200;
const MOST_AXES = 32;
const MOST_LINES = 100;

const readCollective = (raw: unknown): SplitCollective => {
  const { count: copies, kind, sent, runs, line } = fields(raw);
  return { count: Math.max(1, count(copies)), kind: text(kind), sent: number(sent), runs: number(runs), line: text(line) };
};

const readDimension = (raw: unknown): Dimension => {
  const one = fields(raw);
  return {
    name: text(one.name),
    number: text(one.number),
    size: count(one.size),
    splits: text(one.splits),
    devices: count(one.devices),
    sent: number(one.sent),
    why: text(one.why),
    collectives: list(one.collectives, MOST_COLLECTIVES).map(readCollective),
    meets: list(one.meets, MOST).map(count),
    lines: texts(one.lines, MOST_LINES).filter(Boolean),
    about: sentences(one.about),
  };
};

const readArgument = (raw: unknown): NamedArgument => {
  const { name, axes, shape, alike } = fields(raw);
  return {
    name: text(name),
    axes: list(axes, MOST_AXES).map((axis) => number(axis) ?? -1),
    shape: list(shape, MOST_AXES).map(count),
    alike: Math.max(1, count(alike)),
  };
};

async function readAxes(reply: Reply, dimensions: number): Promise<Map<number, AxisInText[]>> {
  const columns = await Columns.of(reply);
  const [rows, starts, ends, places] = ["row", "start", "end", "place"].map((name) => columns.ints(name)) as [Int32Array, Int32Array, Int32Array, Int32Array];
  const found = new Map<number, AxisInText[]>();
  rows.forEach((row, at) => {
    const [start, end, place] = [starts[at] ?? -1, ends[at] ?? -1, places[at] ?? -1];
    if (start < 0 || end <= start || place < 0 || place >= dimensions) return;
    const here = found.get(row) ?? [];
    if ((here.at(-1)?.end ?? 0) <= start) here.push({ start, end, place });
    found.set(row, here);
  });
  return found;
}

export async function readDimensions(reply: Reply): Promise<Dimensions> {
  const { result } = reply;
  const dimensions = list(result.dimensions, MOST).map(readDimension);
  return {
    dimensions,
    inJaxpr: await readAxes(reply, dimensions.length),
    arguments: list(result.arguments, MOST).map(readArgument),
    more: count(result.more),
    headline: text(result.headline),
    notes: sentences(result.notes),
  };
}
