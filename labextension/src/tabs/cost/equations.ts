/** What each equation of the jaxpr costs, before the compiler touched it; read from untrusted replies. */

import { sentences } from "../../wire/check";
import { type Costs, Table, figure, grouped, measures, textField } from "./read";
import type { Reply } from "../../wire/source";

export const EQUATION_GROUPS = [
  ["equation", "equation"],
  ["line", "line"],
  ["scope", "name scope"],
  ["primitive", "primitive"],
  ["dtype", "dtype"],
] as const;
export type EquationGroup = (typeof EQUATION_GROUPS)[number][0];

export const readEquationGroups = (reply: Reply): Promise<Costs> => grouped(reply, EQUATION_GROUPS, "eqns", "equations");

export interface EquationCosts extends Costs {
  notes: string[];
}

export async function readEquations(reply: Reply): Promise<EquationCosts> {
  const table = await Table.read(reply);
  const { flops, bytes, rest } = measures(table);
  const reasonOf = (name: string) => {
    const [codes, reasons] = [table.ints(name), table.texts(name)];
    return (row: number) => reasons[codes[row] ?? -1] ?? "";
  };
  const [why, uncertain] = [reasonOf("why"), reasonOf("uncertain")];
  const coded = (name: string, title: string) =>
    textField({ name, title, codes: table.ints(name), strings: table.texts(name), missing: "unknown" });
  return {
    row: table.ints("row"),
    notes: sentences(reply.result.notes),
    grid: {
      length: table.length,
      fields: [
        coded("primitive", "primitive"),
        coded("dtype", "dtype"),
        { ...flops, why: (row) => why(row) || "not known", isLeast: (row) => uncertain(row) !== "" },
        bytes,
        coded("line", "line"),
        ...rest,
        figure("runs", "runs", "", "executions per run of the program", table.floats("runs")),
        coded("scope", "scope"),
      ],
    },
  };
}
