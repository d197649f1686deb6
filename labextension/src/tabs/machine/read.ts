/** The kernels of a call as the kernel lists them: read, sorted, filtered, and found from the rest of the panel. */

import { byName, count, entries, fields, list, number, sentences, text, texts } from "../../wire/check";
import { type Grid, type NumberField, textColumn } from "../../wire/tables";
import type { Rows } from "../../wire/columns";
import { type Lit, STRONG, WEAK, classOf } from "../../model/links";
import type { Reply } from "../../wire/source";
import type { DocumentInfo } from "../../wire/state";

export interface Kernel {
  /** Its symbol or, of a step without a kernel, its HLO instruction. */
  key: string;
  /** Whether there is machine code of its own. */
  own: boolean;
  instructions: string[];
  kind: string;
  /** Stretches of rows of the HLO document that it came from. */
  rows: [first: number, last: number][];
  /** Why a stage is missing, by stage. */
  lacks: Record<string, string>;
  grid: number[];
  threads: number[];
}

export interface Stage {
  name: string;
  title: string;
}

export interface KernelTable {
  platform: string;
  stages: Stage[];
  kernels: Kernel[];
  notes: string[];
}

export const NUMBERS = ["registers", "spills", "shared", "stack", "code_bytes", "instructions"] as const;
export type Measure = (typeof NUMBERS)[number];

/** null where not known; `reason` says why. */
export type Figures = Record<Measure, number | null> & { reason: string };

const MAX_KERNELS = 20_000;
const MAX_LIST = 1000;
/** The part of a kernel's rows from which on it is a line's own. */
const MOSTLY = 0.5;

/** null where it is not known. */
const counted = (raw: unknown): number | null => ((number(raw) ?? -1) >= 0 ? count(raw) : null);
const counts = (raw: unknown): number[] => list(raw, 3).map(count);

function readKernel(raw: unknown): Kernel {
  const one = fields(raw);
  const lacks = entries(one.lacks).map(([stage, why]) => [stage, text(why)] as const);
  return {
    key: text(one.key),
    own: one.own === true,
    instructions: texts(one.instructions, MAX_LIST),
    kind: text(one.kind),
    rows: list(one.rows, MAX_LIST).map((pair) => [count(list(pair)[0]), count(list(pair)[1])]),
    lacks: byName(Object.fromEntries(lacks)),
    grid: counts(one.grid),
    threads: counts(one.threads),
  };
}

export function readKernels({ result }: Reply): KernelTable {
  const stages = list(result.stages, 20).map(fields);
  return {
    platform: text(result.platform),
    stages: stages.map(({ name, title }) => ({ name: text(name), title: text(title) })),
    kernels: list(result.kernels, MAX_KERNELS).map(readKernel).filter((kernel) => kernel.key),
    notes: sentences(result.notes),
  };
}

export function readFigures({ result }: Reply): Map<string, Figures> {
  const all = entries(result.figures, MAX_KERNELS);
  return new Map(
    all.map(([key, raw]) => {
      const one = fields(raw);
      const numbers = NUMBERS.map((name) => [name, counted(one[name])] as const);
      return [key, { ...(Object.fromEntries(numbers) as Record<Measure, number | null>), reason: text(one.reason) }];
    }),
  );
}

export function readInfo({ result }: Reply): DocumentInfo {
  const { kind, title, lines, bytes } = result;
  return { kind: text(kind), title: text(title), lines: count(lines), bytes: count(bytes) };
}

/** The measures that a platform has, each with its column's title. */
export const COLUMNS = byName<[Measure, string][]>({
  cpu: [
    ["code_bytes", "bytes"],
    ["instructions", "instrs"],
  ],
  cuda: [
    ["registers", "regs"],
    ["spills", "spills"],
    ["shared", "shared"],
    ["code_bytes", "bytes"],
    ["instructions", "instrs"],
  ],
  tpu: [["instructions", "bundles"]],
});

/** What each title stands for. */
export const MEANING: Record<Measure, string> = {
  registers: "registers per thread",
  spills: "bytes spilled per thread",
  shared: "bytes of shared memory per block",
  stack: "bytes of stack per thread",
  code_bytes: "bytes of machine code",
  instructions: "machine instructions",
};

const NAME_PX = 150;
const FIGURE_PX = 46;

/** What runs the kernel, besides its own name. */
function runBy({ key, instructions, own }: Kernel): string {
  if (!own) return "no kernel of its own";
  const [first] = instructions;
  if (first === undefined) return "not in this module";
  const more = instructions.length - 1;
  if (first.replaceAll(/\W/g, "_") === key) return more ? `runs ${more} more` : "";
  return more ? `${first} and ${more} more` : first;
}

function measureOf(kernels: Kernel[], figures: Map<string, Figures> | null, by: Measure, title: string): NumberField {
  const of = (row: number) => figures?.get(kernels[row]?.key ?? "");
  const value = (row: number) => of(row)?.[by] ?? null;
  return {
    kind: "number",
    name: by,
    title,
    hint: MEANING[by],
    least: FIGURE_PX,
    unit: "",
    missing: "?",
    values: kernels.map((_, row) => value(row) ?? Number.NaN),
    written: (row) => value(row)?.toLocaleString("en") ?? (of(row) ? "?" : ""),
    about: (row) => (value(row) === null ? of(row)?.reason || "not known yet" : `${value(row)?.toLocaleString("en")} ${MEANING[by]}`),
    mark: (row) => (by === "spills" && (value(row) ?? 0) > 0 ? "alarm" : ""),
  };
}

/** The kernels as the grid draws them: of a filter's words, all that a kernel runs. */
export function gridOf({ kernels, platform }: KernelTable, figures: Map<string, Figures> | null): Grid {
  const names = textColumn("key", kernels.map(({ key }) => key), {
    title: "kernel",
    hint: "its symbol, and the HLO instructions that run it",
    least: NAME_PX,
    below: (row) => [kernels[row]?.kind, runBy(kernels[row] as Kernel)].filter(Boolean).join(" · "),
  });
  names.words = kernels.map(({ kind, instructions }) => `${kind} ${instructions.join(" ")}`);
  const measures = (COLUMNS[platform] ?? []).map(([by, title]) => measureOf(kernels, figures, by, title));
  return { length: kernels.length, fields: [{ ...names, codes: Int32Array.from(kernels.keys()), strings: kernels.map(({ key }) => key) }, ...measures] };
}

/** NONE, WEAK or STRONG: whether lit rows of the HLO document are among those that the kernel came from. */
export function litClass(kernel: Kernel, lit: Lit | null, rows: Rows): number {
  let best = 0;
  for (const [first, last] of lit ? kernel.rows : []) {
    for (let row = first; row <= Math.min(last, rows.frame.length - 1); row++) {
      best = Math.max(best, classOf(lit, rows, row));
      if (best === STRONG) return best;
    }
  }
  return best;
}

/** The kernels that came from what is lit: of the strongest class that occurs. */
export function litKernels(kernels: Kernel[], lit: Lit | null, rows: Rows | null): Set<string> {
  const found = new Map(rows && lit ? kernels.map((kernel) => [kernel.key, litClass(kernel, lit, rows)]) : []);
  const strongest = Math.max(0, ...found.values());
  return new Set(kernels.map((k) => k.key).filter((key) => strongest >= WEAK && found.get(key) === strongest));
}

/** The kernel that a row of the HLO document belongs to: of several the one with least else. */
export function kernelAt(kernels: Kernel[], row: number): Kernel | null {
  const size = (kernel: Kernel) => kernel.rows.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const holding = kernels.filter((kernel) => kernel.rows.some(([first, last]) => first <= row && row <= last));
  return holding.sort((a, b) => size(a) - size(b))[0] ?? null;
}

/** Of a kernel's rows in the HLO document the part that is lit as strongly as it is. */
function litShare(kernel: Kernel, lit: Lit, rows: Rows): number {
  const strongest = litClass(kernel, lit, rows);
  const all = kernel.rows.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => classOf(lit, rows, first + at)));
  return all.filter((one) => one === strongest).length / all.length;
}

/** Of the kernels that came from what is lit the first that runs little else; else the one with least else. */
export function kernelOfLit(kernels: Kernel[], lit: Lit | null, rows: Rows | null): Kernel | null {
  if (!lit || !rows) return null;
  const keys = litKernels(kernels, lit, rows);
  const shared = kernels.filter(({ key }) => keys.has(key)).map((kernel) => ({ kernel, share: litShare(kernel, lit, rows) }));
  const most = Math.max(...shared.map(({ share }) => share));
  return shared.find(({ share }) => share >= Math.min(most, MOSTLY))?.kernel ?? null;
}

/** The row of the HLO document on which the kernel's first instruction stands: the one outside of what it calls. */
export function rowOf(kernel: Kernel, line: (row: number) => string | undefined): number {
  const [name] = kernel.instructions;
  for (const [first, last] of name === undefined ? [] : [...kernel.rows].reverse()) {
    for (let row = first; row <= last; row++) if (line(row)?.includes(`%${name} = `)) return row;
  }
  return -1;
}

/** Which two stages to show at first: the most readable one and the machine's own. */
export const FIRST_STAGES = byName<[string, string]>({
  cpu: ["llvm", "asm"],
  cuda: ["ptx", "sass"],
  tpu: ["mosaic", "bundles"],
});
