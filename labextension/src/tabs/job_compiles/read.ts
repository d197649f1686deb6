/** What the kernel tells of the compiles of all processes, checked. */

import { widthOfTexts } from "../../parts/grid/widths";
import { byName, count, list, sentences, text } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { type Field, type Grid, readTable } from "../../wire/tables";
import { textIn, textsOf } from "../../wire/texts";

const WIDTHS = { process: 56, number: 40, trace: 64, lower: 64, compile: 68, wait: 68, seconds: 68, slowest: 60 };
const MOST_PX = byName<number>({ program: 300, line: 170, when: 170, outcome: 150, caches: 320, "persistent cache": 320, "cache keys differ in": 240 });
/** What is missing of these did not run, or has not ended. */
const STAGES = new Set(["trace", "lower", "compile"]);
const USUAL_MOST_PX = 120;
const MOST_PROCESSES = 4096;

/** As wide as what it holds. */
function fitted(field: Field): Field {
  if (field.kind === "number") return { ...field, isBestSmall: field.name === "process" || field.name === "number", ...(STAGES.has(field.name) && { missing: "–" }) };
  const least = widthOfTexts([...field.strings, field.missing], field.title, [40, MOST_PX[field.name] ?? USUAL_MOST_PX]);
  const shown = field.name === "line" || field.name === "caches" ? { missing: "–", isEmptyKnown: true } : {};
  return { ...field, ...shown, least, isFixed: field.name !== "program", isCode: field.name === "program" };
}

const fittedGrid = (grid: Grid): Grid => ({ ...grid, fields: grid.fields.map(fitted) });

export interface JobRecords {
  grid: Grid;
  /** Of each record. */
  process: ArrayLike<number>;
  number: ArrayLike<number>;
  program: (row: number) => string;
  isEager: Int32Array;
  sentences: string[];
  /** The processes that have answered, and why others have not. */
  processes: number[];
  missing: { process: number; why: string }[];
  leftOut: number;
  canRefresh: boolean;
}

export async function readRecords(reply: Reply): Promise<JobRecords> {
  const { grid, columns, result } = await readTable(reply, WIDTHS);
  const numbers = (name: string) => columns.floats(name, grid.length);
  const programs = textsOf(columns, "program", grid.length);
  return {
    grid: fittedGrid(grid),
    process: numbers("process"),
    number: numbers("number"),
    program: (row) => textIn(programs, row),
    isEager: columns.ints("eager", grid.length),
    sentences: sentences(result.sentences),
    processes: list(result.processes, MOST_PROCESSES).map(count),
    missing: list(result.missing, MOST_PROCESSES).map((raw) => {
      const [process, why] = list(raw, 2);
      return { process: count(process), why: text(why) };
    }),
    leftOut: count(result.left_out),
    canRefresh: result.can_refresh === true,
  };
}

export interface JobPrograms {
  grid: Grid;
  program: (row: number) => string;
}

export async function readPrograms(reply: Reply): Promise<JobPrograms> {
  const { grid, columns } = await readTable(reply, WIDTHS);
  const programs = textsOf(columns, "program", grid.length);
  return { grid: fittedGrid(grid), program: (row) => textIn(programs, row) };
}

export interface Cause {
  why: string;
  advice: string;
  code: string;
  differences: string[][];
  facts: [name: string, value: string][];
}

export function readCause({ result }: Reply): Cause {
  return {
    why: text(result.why),
    advice: text(result.advice),
    code: text(result.code),
    differences: list(result.differences, 40).map((raw) => list(raw, 4).map(text)),
    facts: list(result.facts, 20).map((raw) => {
      const [name, value] = list(raw, 2);
      return [text(name), text(value)];
    }),
  };
}
