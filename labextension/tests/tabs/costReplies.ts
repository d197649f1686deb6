import type { Reply } from "../../src/wire/source";
import { packed, tableReply } from "./tableReply";

export const LEDGER: Reply = {
  result: {
    verdict: "Bound by memory: 75% of the lower bound goes there.",
    bound: "memory",
    shares: { memory: 0.75, compute: 0.25, unknown: 0 },
    device: "TPU v5e",
    flops_text: "at least 133 kFLOP",
    bytes_text: "45.1 kB",
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

const NAN = null;

/** A row's name, FLOPs, bytes, scope and place. */
const OF_PART = {
  instruction: { title: "instruction", isLines: true, cells: ["tanh_fusion", "custom-call.7", "dot.1"] },
  FLOPs: { title: "FLOPs", unit: "FLOP", hint: "over all runs", cells: [4000, NAN, 129000], why: [null, "a custom call without an estimate", null] },
  bytes: { title: "bytes", unit: "B", cells: [25000, 15000, 5056] },
  scope: { title: "scope", cells: ["jit(f)/jvp(layer)", "jit(f)/jvp(layer)", "jit(f)"] },
  row: { cells: [107, -1, 115] },
};
export const PARTS: Reply = tableReply(OF_PART);

const { bytes, ...OF_MEMBER } = {
  ...OF_PART,
  opcode: { title: "op", cells: ["fusion", "custom-call", "dot"] },
  dtype: { title: "dtype", cells: ["f32", "f32", "bf16"] },
  line: { title: "line", cells: ["In [5]:4", null, "In [5]:4"] },
  runs: { title: "runs", cells: [1, 1, 10] },
  computation: { title: "in", cells: ["main.1", "main.1", "main.1"] },
};
export const MEMBERS: Reply = tableReply(OF_MEMBER);
export const INSTRUCTIONS: Reply = tableReply({ ...OF_MEMBER, bytes });

const grouped = (members: string): Reply =>
  tableReply({
    line: { title: "line", cells: ["In [5]:4", null] },
    FLOPs: { title: "FLOPs", unit: "FLOP", cells: [133000, NAN], why: [null, "no member's FLOPs are known"] },
    bytes: { title: "bytes", unit: "B", cells: [30056, 15000] },
    [members]: { title: members.slice(0, 5), cells: [2, 1] },
    row: { cells: [107, -1] },
    "FLOPs unknown": { cells: [1, 1] },
  });
export const LINES = grouped("instructions");
export const EQUATION_LINES = grouped("equations");

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
    instruction: ["text", ["dot.1", "add.1"]],
  },
  {
    device: "a device",
    peaks: { f16: 1000, f32: 100, bf16: 1000 },
    bandwidth: 10,
    notes: ["Not on the chart: 1 instruction that only moves data."],
    strings: { bound: ["compute", "memory"], unit: ["f32"], line: ["In [5]:2", ""] },
  },
);

export const EQUATIONS: Reply = tableReply(
  {
    primitive: { title: "primitive", cells: ["eigh", "dot_general", "mul"] },
    FLOPs: { title: "FLOPs", unit: "FLOP", cells: [NAN, 10000, 4], why: ["eigh has no formula", null, null] },
    line: { title: "line", cells: ["In [5]:4", "In [5]:4", null] },
    runs: { title: "runs", cells: [1, 10, 1], why: [null, null, "in a loop of unknown length, counted once"] },
    row: { cells: [3, 7, -1] },
  },
  { notes: ["1 equation is <i>in</i> a loop of unknown length."] },
);
