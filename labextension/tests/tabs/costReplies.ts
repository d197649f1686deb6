import type { Reply } from "../../src/wire/source";
import { gz } from "../helpers";

type Column = [dtype: "f8" | "i4", values: number[]];

/** A reply of columns, as Python packs them; `names` go last. */
export function packed(columns: Record<string, Column>, more: Record<string, unknown>, names?: string[]): Reply {
  const described = Object.entries(columns).map(([name, [dtype]]) => ({ name, dtype }));
  const buffers = Object.values(columns).map(([dtype, values]) =>
    gz(new Uint8Array((dtype === "f8" ? Float64Array.from(values) : Int32Array.from(values)).buffer)),
  );
  return { result: { columns: described, ...more }, buffers: names ? [...buffers, gz(names.join("\n"))] : buffers };
}

export const LEDGER: Reply = {
  result: {
    verdict: "Bound by memory: 75% of the least time goes there.",
    bound: "memory",
    shares: { memory: 0.75, compute: 0.25, unknown: 0 },
    device: "TPU v5e",
    flops: 133000,
    bytes: 45056,
    instructions: 3,
    unknown: 1,
    unknown_share: 0.125,
    ledger: {
      columns: [
        { name: "jaxpr", hint: "counted on the jaxpr" },
        { name: "HLO", hint: "counted on the HLO" },
        { name: "XLA", hint: "by XLA" },
      ],
      rows: [
        { name: "FLOPs", unit: "FLOP", values: [2e5, 133000, null], reasons: ["", "", "XLA <i>cannot</i>"] },
        { name: "bytes moved", unit: "B", values: [null, 45056, null], reasons: ["a jaxpr says nothing", "", "XLA <i>cannot</i>"] },
      ],
      notes: ["XLA counts the body of a loop once."],
    },
  },
  buffers: [],
};

export const INSTRUCTIONS: Reply = packed(
  {
    flops: ["f8", [4000, Number.NaN, 129000]],
    transcendentals: ["f8", [0, 0, 512]],
    read: ["f8", [20000, 10000, 5000]],
    written: ["f8", [5000, 5000, 56]],
    runs: ["f8", [1, 1, 10]],
    row: ["i4", [107, -1, 115]],
    line: ["i4", [0, 1, 0]],
    scope: ["i4", [0, 0, 1]],
    computation: ["i4", [0, 0, 0]],
    opcode: ["i4", [0, 1, 2]],
    dtype: ["i4", [0, 0, 1]],
    why: ["i4", [-1, 0, -1]],
  },
  {
    length: 3,
    strings: {
      line: ["In [5]:4", ""],
      scope: ["jit(f)/jvp(layer)", "jit(f)"],
      computation: ["main.1"],
      opcode: ["fusion", "custom-call", "dot"],
      dtype: ["f32", "bf16"],
      why: ["a custom call without an estimate"],
    },
  },
  ["tanh_fusion", "custom-call.7", "dot.1"],
);

export const LINES: Reply = packed(
  {
    flops: ["f8", [133000, Number.NaN]],
    read: ["f8", [25000, 10000]],
    written: ["f8", [5056, 5000]],
    unknown: ["i4", [1, 1]],
    transcendentals: ["f8", [512, 0]],
    instructions: ["i4", [2, 1]],
    row: ["i4", [107, -1]],
  },
  { group: "line", length: 2, names: ["In [5]:4", "unknown"] },
);

export const ROOFLINE: Reply = packed(
  {
    intensity: ["f8", [25, 0.25]],
    attainable: ["f8", [100, 2.5]],
    flops: ["f8", [1000, 10]],
    bytes: ["f8", [400, 40]],
    seconds: ["f8", [10, 4]],
    row: ["i4", [115, 107]],
    bound: ["i4", [0, 1]],
    unit: ["i4", [0, 0]],
    line: ["i4", [0, 1]],
  },
  {
    device: "a device",
    peaks: { f16: 1000, f32: 100, bf16: 1000 },
    bandwidth: 10,
    notes: ["Not on the chart: 1 instruction that only moves data."],
    length: 2,
    strings: { bound: ["compute", "memory"], unit: ["f32"], line: ["In [5]:2", ""] },
  },
  ["dot.1", "add.1"],
);

export const EQUATIONS: Reply = packed(
  {
    flops: ["f8", [Number.NaN, 10000, 4]],
    transcendentals: ["f8", [0, 0, 0]],
    read: ["f8", [64, 128, 16]],
    written: ["f8", [64, 64, 16]],
    runs: ["f8", [1, 10, 1]],
    row: ["i4", [3, 7, -1]],
    line: ["i4", [0, 0, 1]],
    scope: ["i4", [0, 0, 0]],
    primitive: ["i4", [0, 1, 2]],
    dtype: ["i4", [0, 0, 0]],
    why: ["i4", [0, -1, -1]],
    uncertain: ["i4", [-1, -1, 0]],
  },
  {
    length: 3,
    notes: ["1 equation is <i>in</i> a loop of unknown length."],
    strings: {
      line: ["In [5]:4", ""],
      scope: ["layer"],
      primitive: ["eigh", "dot_general", "mul"],
      dtype: ["f32"],
      why: ["eigh has no formula"],
      uncertain: ["in a loop of unknown length, counted once"],
    },
  },
);
