/** Two parts of the profiles at hand, side by side. */

import { fields, list, number, sentences, text } from "../../wire/check";
import type { Reply } from "../../wire/source";
import type { Grid, NumberField } from "../../wire/tables";
import { difference, percent } from "../../wire/figures";
import { readTimelineTable, type TimelineTable } from "./tableRead";

export interface Part {
  key: string;
  title: string;
  /** In seconds; null where not known. */
  seconds: number | null;
}

export interface TimelineComparison extends TimelineTable {
  parts: Part[];
  before: string;
  after: string;
  headline: string;
}

const MOST_PARTS = 1100;

const numberField = (grid: Grid, name: string) => grid.fields.find((field): field is NumberField => field.kind === "number" && field.name === name);

/** Changes with their sign, and how much of what there was before they are. */
function signed(grid: Grid): Grid {
  const [change, before] = [numberField(grid, "change"), numberField(grid, "before")];
  if (!change) return grid;
  const at = (row: number) => change.values[row] ?? Number.NaN;
  const shown: NumberField = {
    ...change,
    least: 150,
    written: (row) => {
      const value = at(row);
      if (!Number.isFinite(value)) return "unknown";
      const was = before?.values[row] ?? 0;
      const share = was > 0 && value ? ` (${value > 0 ? "+" : "−"}${percent(Math.abs(value), was)})` : "";
      return `${difference(value, change.unit) || "same"}${share}`;
    },
  };
  return { ...grid, fields: grid.fields.map((field) => (field === change ? shown : field)) };
}

/** Above 0 where a row grew, below where it shrank. */
export const grewAt = (table: TimelineComparison, row: number): number => Math.sign(numberField(table.grid, "change")?.values[row] ?? 0);

export async function readComparison(reply: Reply): Promise<TimelineComparison> {
  const table = await readTimelineTable(reply);
  const { result } = reply;
  const parts = list(result.parts, MOST_PARTS).map(fields);
  return {
    ...table,
    grid: signed(table.grid),
    parts: parts.map((part) => ({ key: text(part.key), title: text(part.title), seconds: number(part.seconds) })),
    before: text(result.before),
    after: text(result.after),
    headline: sentences([result.headline]).join(""),
  };
}
