/** What a program costs, as the kernel tells it: read from untrusted replies, so checked and capped. */

import { fields, list, number, sentences, text } from "../../wire/check";
import { textIn, textsOf } from "../../wire/texts";
import { type Field, type Grid, type NumberField, readTable } from "../../wire/tables";
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
  /** Ranges where a loop, a branch or an unknown count leaves them open. */
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
export const EQUATION_GROUPS = [
  ["equation", "equation"],
  ["line", "line"],
  ["scope", "name scope"],
  ["primitive", "primitive"],
  ["dtype", "dtype"],
] as const;

/** A table of which each row leads to a row of a document, or -1. */
export interface Costs {
  grid: Grid;
  row: Int32Array;
  notes: string[];
}

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

/** A table of work as the kernel sends it: of HLO or of the jaxpr, one row an instruction, an equation or a group. */
export async function readCosts(reply: Reply): Promise<Costs> {
  const { grid, row, columns } = await readTable(reply);
  const [unknown, runs] = [columns.ints("FLOPs unknown", grid.length), textsOf(columns, "runs: why", grid.length)];
  const isLeast = (at: number) => (unknown[at] ?? 0) > 0 || textIn(runs, at) !== "";
  const marked = grid.fields.map((field): Field => (field.kind === "number" && field.name === "FLOPs" ? { ...field, isLeast } : field));
  return { row, notes: sentences(reply.result.notes), grid: { ...grid, fields: marked } };
}

export const numbersOf = ({ grid }: Costs, name: string): NumberField =>
  grid.fields.find((field) => field.name === name && field.kind === "number") as NumberField;
