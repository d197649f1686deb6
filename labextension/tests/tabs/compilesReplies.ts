/** A session of eight compiles as the kernel sends it. */

import type { Reply } from "../../src/wire/source";
import { gz } from "../helpers";

type Column = number[] | Float64Array | string[];

/** Columns as the kernel packs them: whole numbers, real ones, and texts by their number. */
export function packed(columns: Record<string, Column>, more: Record<string, unknown> = {}): Reply {
  const strings: Record<string, string[]> = {};
  const described: { name: string; dtype: string }[] = [];
  const buffers = Object.entries(columns).map(([name, values]) => {
    const isReal = values instanceof Float64Array;
    described.push({ name, dtype: isReal ? "f8" : "i4" });
    if (isReal) return gz(new Uint8Array(values.buffer));
    if (typeof values[0] !== "string") return gz(new Uint8Array(Int32Array.from(values as number[]).buffer));
    const all = [...new Set(values as string[])].filter(Boolean);
    strings[name] = all;
    return gz(new Uint8Array(Int32Array.from(values as string[], (one) => all.indexOf(one)).buffer));
  });
  return { result: { columns: described, strings, ...more }, buffers };
}

const NAN = Number.NaN;
const MINE = 1;
const EAGER = 2;
const SCOPE = 4;
const FAILED = 8;
export const HOSTILE = "<script>window.pwned=1</script>";

/** Two eager operations of a line, a first compile with one inside, two recompiles, a failure, one of ours. */
export const listReply = (more: Record<string, unknown> = {}): Reply =>
  packed(
    {
      number: [1, 2, 3, 4, 5, 6, 7, 8],
      parent: [-1, -1, -1, 3, -1, -1, -1, -1],
      flags: [MINE | EAGER, MINE | EAGER, MINE, MINE, MINE | SCOPE, MINE | SCOPE, MINE | FAILED, 0],
      began: Float64Array.from([0, 0.1, 10, 10.5, 100, 700, 710, 720]),
      span: Float64Array.from([0.05, 0.05, 2, 0.5, 3, 4, 1, 1]),
      trace: Float64Array.from([0.01, 0.01, 0.5, 0.1, 0.5, 0.5, 1, 0.1]),
      lower: Float64Array.from([0.01, 0.01, 0.5, 0.1, 0.5, 0.5, NAN, 0.1]),
      compile: Float64Array.from([0.03, 0.03, 1, 0.3, 2, -1, NAN, 0.8]),
      own: Float64Array.from([0.05, 0.05, 2, 0.5, 3, 1, 1, 1]),
      cell: ["In [1]", "In [1]", "In [2]", "In [2]", "In [3]", "In [4]", "", "In [5]"],
      line: ["In [1]:1", "In [1]:1", "In [2]:4", "In [2]:4", "In [3]:2", "In [4]:2", "train.py:9", "In [5]:1"],
      function: ["add", "iota", "step", "inner", "step", "step", HOSTILE, "loss"],
      outcome: ["compiled", "compiled", "compiled", "compiled", "compiled", "running", "failed", "compiled"],
    },
    { left_out: 0, dropped: 0, first: 1.8e9, scope: "", can_refresh: true, is_on: true, ...more },
  );

const firstOf = <T extends unknown[]>(rows: number, columns: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(columns).map(([name, cells]) => [name, cells.slice(0, rows) as T]));

/** The recompiles of one cause in the headline. */
export const recompileCause = (more: Record<string, unknown> = {}) => ({ number: 5, times: 2, loaded: 0, seconds: 4, why: "x is f32[3], was f32[8]", advice: "Pad x.", ...more });

/** The causes of the first so many. */
export const causesReply = (more: Record<string, unknown> = {}, rows = 8): Reply =>
  packed(
    firstOf(rows, {
      number: [1, 2, 3, 4, 5, 6, 7, 8],
      nearest: [-1, -1, -1, -1, 3, 5, 5, -1],
      flags: [0, 0, 0, 0, 1 | 4, 1 | 2 | 4, 4, 0],
      why: ["an eager operation", "an eager operation", "the first compile", "the first compile", "x is f32[3], was f32[8]", "x is weak", "failed: TypeError", "ahead of time"],
      cause: ["eager operation", "eager operation", "first", "first", "shape", "weak type", "shape", "ahead of time"],
      signature: ["", "", "f32[8]", "f32[8]", "f32[3]", "weak f32[]", "", "f32[8]"],
      caches: ["", "", "", "", "trace cache", "", "", ""],
      persistent: ["", "", "miss, written", "", "", "", "", ""],
    }),
    {
      totals: { spent: 12.6, wasted: 1, avoidable: 4, is_complete: true, saved: null, hits: 0, is_cache_off: false },
      headline: { number: 5, function: "step", times: 2, loaded: 0, seconds: 4, mendable: true, causes: [recompileCause()], causes_in_all: 1 },
      ...more,
    },
  );

export const recordReply = (number: number, nearest: Record<string, unknown> = {}): Reply => ({
  result: {
    number,
    function: "step",
    signature: "f32[3]",
    why: "x is f32[3], was f32[8]",
    differences: [{ kind: "shape", what: "x", before: "f32[8]", now: `f32[3]${HOSTILE}` }],
    more_differences: 2,
    nearest: { number: 3, line: "In [2]:4", not_opened: "", ...nearest },
    advice: "Pad x.",
    code: "x = jnp.pad(x, (0, 5))",
    stages: [
      { name: "trace", seconds: 0.5, own: 0.5, cached: true, failed: "" },
      { name: "compile", seconds: null, own: null, cached: null, failed: "" },
    ],
    caches: ["trace cache"],
    outcome: "compiled",
    persistent: {
      outcome: "hit",
      key: "jit_step-1f",
      folder: "/cache",
      read: 0.02,
      saved: -0.5,
      check: "verified",
      reason: "",
      missed: [`--xla_flag: was not set, is 1${HOSTILE}`],
      diff: ["-%0 = stablehlo.sine", "+%0 = stablehlo.cosine"],
    },
    call_site: { text: "layers.py:3", function: "apply" },
    user_line: { text: "In [3]:2", function: "" },
    entry: "call",
    asker: "user",
    parent: null,
    inside: [4],
    more_inside: 0,
    options: [],
  },
  buffers: [],
});
