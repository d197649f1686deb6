/** Shardings, collectives and dtypes of small programs, as the kernel answers. */

import type { Reply } from "../../src/wire/source";
import { gz } from "../helpers";

type Cells = (string | null)[] | number[];

const whole = (values: number[]) => gz(new Uint8Array(Int32Array.from(values).buffer));

/** A table as `table_wire.packed` sends it; `units` of the columns of numbers. */
export function table(columns: Record<string, Cells>, more: Record<string, unknown> = {}, units: Record<string, string> = {}): Reply {
  const strings: Record<string, string[]> = {};
  const described: unknown[] = [];
  const buffers: ArrayBuffer[] = [];
  for (const [name, cells] of Object.entries(columns)) {
    const numeric = typeof cells[0] === "number";
    const texts = numeric ? [] : [...new Set(cells.filter((cell) => cell !== null) as string[])];
    strings[name] = texts;
    described.push({ name, title: name, hint: `what ${name} is`, unit: units[name] ?? "", dtype: numeric ? "f8" : "i4" });
    const codes = cells.map((cell) => (cell === null ? -1 : texts.indexOf(cell as string)));
    buffers.push(numeric ? gz(new Uint8Array(Float64Array.from(cells as number[]).buffer)) : whole(codes));
  }
  const length = Object.values(columns)[0]?.length ?? 0;
  return { result: { length, fields: described, strings, reasons: [], ...more }, buffers };
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
export const MAP: Reply = {
  result: {
    name: "w",
    dtype: "f32",
    shape: [7, 2],
    spec: "P('data', None)",
    chosen: "you",
    bytes: 16,
    copies: 2,
    padding: 0.125,
    sums: 1,
    own: 1,
    problem: "",
    shard: [2, 2],
    tiles: [4, 1],
    mesh: { names: ["data", "model"], sizes: [4, 2] },
  },
  buffers: [whole([0, 1, 2, 3, 4, 5, 6, 7]), whole([0, 1, 2, 3, 4, 5, 6, 7])],
};

export const COLLECTIVES: Reply = (() => {
  const made = table(
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
      more: { groups: ["{0,2} {1,3}", "{0,1}"], meanwhile: ["", "fusion.1"], instruction: ["all-reduce.1", "all-gather.2"] },
      warnings: [{ text: "Involuntary full rematerialisation", line: "labextension/dev/fixture.py:16" }],
      notes: ["time: by the links"],
      reasons: [[1, "time", "the bandwidth between hosts is not known"]],
    },
    { time: "s" },
  );
  return { ...made, buffers: [...made.buffers, whole([107, -1])] };
})();

export const DTYPES: Reply = (() => {
  const made = table(
    { stage: ["jaxpr", "HLO"], from: ["bf16", "f32"], to: ["f32", "bf16"], grows: [8, -8], line: ["labextension/dev/fixture.py:16", ""] },
    { headline: "The program promotes 1 value; the compiler adds 1 conversion." },
    { grows: "B" },
  );
  return { ...made, buffers: [...made.buffers, whole([-1, 115])] };
})();
