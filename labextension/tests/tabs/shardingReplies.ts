/** Shardings, collectives and dtypes of small programs, as the kernel answers. */

import type { Reply } from "../../src/wire/source";
import { type TableColumn, packed, tableReply } from "./tableReply";

type Cells = (string | null)[] | number[];

/** A table as the kernel sends it; `units` of the columns of numbers, `row` of the document, `why` of columns. */
export function table(columns: Record<string, Cells>, more: Record<string, unknown> = {}, units: Record<string, string> = {}, row?: number[], why: Record<string, (string | null)[]> = {}): Reply {
  const shown = Object.entries(columns).map(([name, cells]): [string, TableColumn] => {
    const reasons = why[name];
    return [name, { title: name, hint: `what ${name} is`, unit: units[name] ?? "", cells, ...(reasons && { why: reasons }) }];
  });
  return tableReply({ ...Object.fromEntries(shown), ...(row && { row: { cells: row } }) }, more);
}

/** Eight devices on a mesh of data=4 and model=2: two hosts of four, at the corners of a cube. */
export const PLACES = Array.from({ length: 8 }, (_, id) => [id, id >> 2, [id & 1, (id >> 1) & 1, id >> 2], 0]);

export const VALUES = table(
  {
    value: ["w", "<b>x</b>", "result"],
    sharding: ["P('data', None)", "P()", null],
    "chosen by": ["you", "compiler", null],
    "per device": [32, 4, Number.NaN],
    line: ["labextension/dev/fixture.py:16", "–", "labextension/dev/fixture.py:17"],
  },
  { places: PLACES, mesh: "data=4, model=2", notes: [] },
  { "per device": "B" },
);

/** `w` of shape [7, 2] in four parts along data, each on both devices of model. */
export const MAP: Reply = packed(
  { holders: ["i4", [0, 1, 2, 3, 4, 5, 6, 7]], order: ["i4", [0, 1, 2, 3, 4, 5, 6, 7]] },
  {
    name: "w",
    dtype: "f32",
    shape: [7, 2],
    spec: "P('data', None)",
    chosen: "you",
    bytes: 16,
    copies: 2,
    padding: 0.125,
    local: "f32[4,2] (process 0), f32[3,2] (process 1)",
    sums: 1,
    own: 1,
    problem: "",
    shard: [2, 2],
    tiles: [4, 1],
    mesh: { names: ["data", "model"], sizes: [4, 2] },
  },
);

export const COLLECTIVES: Reply = table(
    {
      collective: ["all-reduce", "all-gather"],
      line: ["labextension/dev/fixture.py:16", null],
      time: [2e-6, Number.NaN],
      overlap: ["exposed", "overlapped"],
      cause: ["partial sums of dot_general", null],
      from: ["P('data', None)", null],
      to: ["P()", null],
    },
    {
      headline: "The costliest of 2 collectives: all-reduce of 8 kB over data for labextension/dev/fixture.py:16.",
      more: { groups: ["{0,2} {1,3}", "{0,1}"], meanwhile: ["", "fusion.1"], instruction: ["all-reduce.1", "all-gather.2"], exposed: [true, false] },
      warnings: [{ text: "Involuntary full rematerialisation", line: "labextension/dev/fixture.py:16" }],
      notes: ["time: by the links"],
    },
    { time: "s" },
    [107, -1],
    { time: [null, "the bandwidth between hosts is not known"] },
  );

export const DTYPES: Reply = table(
    { stage: ["jaxpr", "HLO"], from: ["bf16", "f32"], to: ["f32", "bf16"], grows: [8, -8], line: ["labextension/dev/fixture.py:16", ""] },
    { headline: "The program promotes 1 value; the compiler adds 1 conversion." },
    { grows: "B" },
    [-1, 115],
  );
