/** Timelines made by hand, for tests that know what is drawn of them. */

import { Session } from "../../src/model/session";
import type { Lane, Look, Overview, Segments, Tile } from "../../src/tabs/timeline/read";
import { FakeKernel } from "../kernel";

export interface Drawn {
  row?: number;
  left: number;
  right: number;
  event?: number;
  look?: number;
  busy?: number;
  count?: number;
  seconds?: number;
}

export function segments(all: Drawn[]): Segments {
  const take = <T>(make: (values: number[]) => T, of: (one: Drawn, i: number) => number) => make(all.map(of));
  return {
    length: all.length,
    row: take((v) => Uint8Array.from(v), ({ row = 0 }) => row),
    left: take((v) => Float32Array.from(v), ({ left }) => left),
    right: take((v) => Float32Array.from(v), ({ right }) => right),
    event: take((v) => Int32Array.from(v), ({ event }, i) => event ?? i),
    look: take((v) => Int32Array.from(v), ({ look = 0 }) => look),
    busy: take((v) => Uint8Array.from(v), ({ busy = 255 }) => busy),
    count: take((v) => Int32Array.from(v), ({ count = 1 }) => count),
    seconds: take((v) => Float32Array.from(v), ({ seconds, left, right }) => seconds ?? right - left),
  };
}

export const look = (name: string, more: Partial<Look> = {}): Look => ({ name, kind: 1, group: 0, op: "", row: -1, file: "", label: "", line: -1, inferred: false, ...more });

export const lane = (number: number, more: Partial<Lane> = {}): Lane => ({
  lane: number,
  group: "GPU 0",
  name: `Stream #${number}`,
  kind: "compute",
  hidden: false,
  rows: 1,
  events: 1,
  deeper: 0,
  counter: null,
  ...more,
});

export const tile = (lanes: [number, Drawn[]][], looks: Look[] = [look("dot"), look("add")]): Tile => ({
  lanes: new Map(lanes.map(([number, drawn]) => [number, segments(drawn)])),
  looks: new Map(looks.map((one, i) => [i, one])),
});

/** Of 100 bins of a second each. */
export const overview = (lanes: Lane[], picture: Tile, more: Partial<Overview> = {}): Overview => ({
  title: "step(x)",
  predicted: false,
  of: "measured",
  kinds: ["measured"],
  base: 0,
  end: 100,
  bins: 100,
  bin: 1,
  levels: 20,
  events: 1,
  total: 1,
  lanes,
  lanesLeftOut: 0,
  groups: [{ name: "dot", seconds: 1 }],
  picture,
  ...more,
});

export const session = (kernel = new FakeKernel()): Session => new Session(kernel);
