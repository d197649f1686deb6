/** What a program costs, as the kernel tells it: read from untrusted replies, so checked and capped. */

import { fields, list, number, sentences, text, texts } from "../../wire/check";
import type { Field, Grid, NumberField, TextField } from "../../wire/tables";
import { gunzip } from "../../wire/gzip";
import type { Reply } from "../../wire/source";

export interface LedgerRow {
  name: string;
  unit: string;
  values: (number | null)[];
  reasons: string[];
}

export interface Overview {
  verdict: string;
  /** "compute", "memory", "interconnect" or "unknown". */
  bound: string;
  /** Of the lower bound, what each ceiling takes. */
  shares: [kind: string, share: number][];
  device: string;
  flops: number;
  bytes: number;
  /** The same as text: a range where a loop, a branch or an unknown count leaves it open; "" from older kernels. */
  flopsText: string;
  bytesText: string;
  /** What leaves the work open. */
  open: string;
  instructions: number;
  unknown: number;
  unknownShare: number;
  columns: { name: string; hint: string }[];
  rows: LedgerRow[];
  notes: string[];
}

export const GROUPS = [
  ["instruction", "instruction"],
  ["line", "line"],
  ["scope", "name scope"],
  ["computation", "computation"],
  ["opcode", "operation"],
  ["dtype", "dtype"],
] as const;
export type Group = (typeof GROUPS)[number][0];

/** A table of which each row leads to a row of the HLO document, or -1. */
export interface Costs {
  grid: Grid;
  row: Int32Array;
}

export type Numbers = Float64Array | Int32Array;

const MOST_ROWS = 2_000_000;
const MOST_LIST = 200;

const size = (raw: unknown): number => Math.max(0, number(raw) ?? 0);

export function readOverview({ result }: Reply): Overview {
  const ledger = fields(result.ledger);
  const columns = list(ledger.columns, 10).map(fields);
  const shares = Object.entries(fields(result.shares)).slice(0, 10);
  const known = shares.map(([kind, share]): [string, number] => [text(kind), Math.min(1, size(share))]);
  return {
    verdict: text(result.verdict),
    bound: text(result.bound) || "unknown",
    shares: known.filter(([, share]) => share > 0),
    device: text(result.device),
    flops: size(result.flops),
    bytes: size(result.bytes),
    flopsText: text(result.flops_text),
    bytesText: text(result.bytes_text),
    open: text(result.open),
    instructions: size(result.instructions),
    unknown: size(result.unknown),
    unknownShare: Math.min(1, size(result.unknown_share)),
    columns: columns.map((column) => ({ name: text(column.name), hint: text(column.hint) })),
    rows: list(ledger.rows, 20).map((raw) => {
      const row = fields(raw);
      const [values, reasons] = [list(row.values), list(row.reasons)];
      return {
        name: text(row.name),
        unit: text(row.unit),
        values: columns.map((_, i) => number(values[i])),
        reasons: columns.map((_, i) => text(reasons[i])),
      };
    }),
    notes: sentences(ledger.notes),
  };
}

/** The numbers of a reply by name, each of the reply's own length; what is missing is NaN, or -1 for whole numbers. */
export class Table {
  private constructor(
    readonly length: number,
    private columns: Map<string, Numbers>,
    private strings: Map<string, string[]>,
    private packed: string[],
  ) {}

  static async read(reply: Reply): Promise<Table> {
    const described = list(reply.result.columns).map(fields);
    const length = Math.min(MOST_ROWS, Math.floor(size(reply.result.length)));
    const columns = new Map<string, Numbers>();
    const read = described.map(async ({ name, dtype }, i) => {
      const bytes = await gunzip(reply.buffers[i] ?? new ArrayBuffer(0)).catch(() => new Uint8Array(0));
      columns.set(text(name), dtype === "f8" ? floats(bytes) : ints(bytes));
    });
    await Promise.all(read);
    const strings = Object.entries(fields(reply.result.strings)).slice(0, MOST_LIST);
    const last = reply.buffers[described.length];
    const names = last ? new TextDecoder().decode(await gunzip(last)).split("\n", length) : [];
    return new Table(length, columns, new Map(strings.map(([name, raw]) => [name, texts(raw)])), names);
  }

  floats(name: string): Float64Array {
    const found = this.columns.get(name);
    const column = new Float64Array(this.length).fill(Number.NaN);
    if (found) column.set(found.subarray(0, this.length));
    return column;
  }

  ints(name: string): Int32Array {
    const found = this.columns.get(name);
    const column = new Int32Array(this.length).fill(-1);
    if (found) column.set(found.subarray(0, this.length));
    return column;
  }

  has(name: string): boolean {
    return this.columns.has(name);
  }

  texts(name: string): string[] {
    return this.strings.get(name) ?? [];
  }

  /** The texts that are sent one a row. */
  get names(): string[] {
    return this.packed;
  }
}

const floats = (bytes: Uint8Array) => new Float64Array(bytes.slice().buffer, 0, bytes.byteLength >> 3);
const ints = (bytes: Uint8Array) => new Int32Array(bytes.slice().buffer, 0, bytes.byteLength >> 2);

export type Column = Omit<TextField, "kind" | "hint"> & { hint?: string };
export const textField = (field: Column): TextField => ({ hint: field.title, ...field, kind: "text" });
export const figure = (name: string, title: string, unit: string, hint: string, values: ArrayLike<number>): NumberField => ({
  kind: "number",
  name,
  title,
  unit,
  hint,
  values,
});

/** What both tables have: FLOPs, bytes, and what is made of them. */
export function measures(table: Table): { flops: NumberField; bytes: NumberField; rest: Field[] } {
  const [flops, read, wrote] = [table.floats("flops"), table.floats("read"), table.floats("written")];
  const moved = read.map((bytes, row) => bytes + (wrote[row] ?? Number.NaN));
  const intensity = flops.map((work, row) => (moved[row] ? work / (moved[row] as number) : Number.NaN));
  const field = figure("flops", "FLOPs", "FLOP", "floating-point operations, over all runs; a multiply-add counts as two", flops);
  return {
    flops: field,
    bytes: figure("bytes", "bytes", "B", "bytes read and written, over all runs", moved),
    rest: [
      figure("read", "read", "B", "bytes read", read),
      figure("written", "written", "B", "bytes written", wrote),
      figure("intensity", "FLOP/B", "", "arithmetic intensity: FLOPs per byte moved", intensity),
      figure("transcendentals", "transc.", "", "transcendental functions: exp, log, tanh, …", table.floats("transcendentals")),
    ],
  };
}

/** What a profile measured of instructions; no columns where there is none. */
function measured(table: Table): NumberField[] {
  if (!table.has("time")) return [];
  const why = () => "not measured: the profile has no event of it, or its work or its roof is unknown";
  const share = table.floats("of_roof").map((part) => part * 100);
  return [
    { ...figure("time", "time", "s", "measured: device time of one run of the program", table.floats("time")), why },
    { ...figure("flop_rate", "FLOP/s", "FLOP/s", "measured: FLOPs over time", table.floats("flop_rate")), why },
    { ...figure("byte_rate", "B/s", "B/s", "measured: bytes over time", table.floats("byte_rate")), why },
    { ...figure("of_roof", "% of roof", "", "the least time that the device can take for it, over the measured time", share), why },
  ];
}

export async function readInstructions(reply: Reply): Promise<Costs> {
  const table = await Table.read(reply);
  const { flops, bytes, rest } = measures(table);
  const [why, reasons] = [table.ints("why"), table.texts("why")];
  const coded = (name: string, title: string, missing = "unknown") =>
    textField({ name, title, codes: table.ints(name), strings: table.texts(name), missing });
  const names = Int32Array.from({ length: table.length }, (_, row) => row);
  return {
    row: table.ints("row"),
    grid: {
      length: table.length,
      fields: [
        textField({ name: "instruction", title: "instruction", codes: names, strings: table.names, missing: "?" }),
        coded("opcode", "op"),
        coded("dtype", "dtype"),
        { ...flops, why: (row) => reasons[why[row] ?? -1] ?? "not known" },
        bytes,
        ...measured(table),
        coded("line", "line"),
        ...rest,
        figure("runs", "runs", "", "executions per run of the program", table.floats("runs")),
        coded("scope", "scope"),
        coded("computation", "in"),
      ],
    },
  };
}

export const readGroups = (reply: Reply): Promise<Costs> => grouped(reply, GROUPS, "instrs", "instructions; a fusion counts as one");

/** Totals by what `groups` names; `members` is what a group has many of. */
export async function grouped(
  reply: Reply,
  groups: readonly (readonly [name: string, title: string])[],
  members: string,
  hint: string,
): Promise<Costs> {
  const table = await Table.read(reply);
  const { flops, bytes, rest } = measures(table);
  const unknown = table.ints("unknown");
  const [why, reasons] = [table.ints("why"), table.texts("why")];
  const names = texts(reply.result.names);
  const codes = Int32Array.from({ length: table.length }, (_, row) => row);
  const title = groups.find(([name]) => name === reply.result.group)?.[1] ?? "group";
  return {
    row: table.ints("row"),
    grid: {
      length: table.length,
      fields: [
        textField({ name: "group", title, codes, strings: names, missing: "unknown" }),
        {
          ...flops,
          isLeast: (row) => (unknown[row] ?? 0) > 0,
          why: (row) => reasons[why[row] ?? -1] ?? "no member's FLOPs are known",
        },
        bytes,
        ...rest,
        figure("instructions", members, "", hint, table.ints("instructions")),
      ],
    },
  };
}

export const numbersOf = ({ grid }: Costs, name: string): NumberField =>
  grid.fields.find((field) => field.name === name && field.kind === "number") as NumberField;

const OF_BYTES = ["bytes", "read", "written", "intensity"];

/** The members of a fusion: what goes through no memory has no columns of bytes. */
export async function readMembers(reply: Reply): Promise<Costs> {
  const costs = await readInstructions(reply);
  if (Array.from(numbersOf(costs, "bytes").values).some((bytes) => bytes > 0)) return costs;
  const fields = costs.grid.fields.filter((field) => !OF_BYTES.includes(field.name));
  return { ...costs, grid: { ...costs.grid, fields } };
}
