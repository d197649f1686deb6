/** The kernels of a call as the kernel lists them: read, sorted, filtered, and found from the rest of the panel. */

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
const MAX_TEXT = 2000;

type Fields = Record<string, unknown>;
const fields = (raw: unknown): Fields => (raw !== null && typeof raw === "object" ? (raw as Fields) : {});
const list = (raw: unknown, most = MAX_LIST): unknown[] => (Array.isArray(raw) ? raw.slice(0, most) : []);
const text = (raw: unknown): string => (typeof raw === "string" ? raw.slice(0, MAX_TEXT) : "");
const count = (raw: unknown): number | null =>
  typeof raw === "number" && Number.isFinite(raw) && raw >= 0 ? Math.floor(raw) : null;
const counts = (raw: unknown): number[] => list(raw, 3).map((n) => count(n) ?? 0);

function readKernel(raw: unknown): Kernel {
  const one = fields(raw);
  const lacks = Object.entries(fields(one.lacks)).map(([stage, why]) => [stage, text(why)] as const);
  return {
    key: text(one.key),
    own: one.own === true,
    instructions: list(one.instructions).map(text),
    kind: text(one.kind),
    rows: list(one.rows).map((pair) => [count(list(pair)[0]) ?? 0, count(list(pair)[1]) ?? 0]),
    lacks: Object.fromEntries(lacks),
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
    notes: list(result.notes).map(text).filter(Boolean),
  };
}

export function readFigures({ result }: Reply): Map<string, Figures> {
  const all = Object.entries(fields(result.figures)).slice(0, MAX_KERNELS);
  return new Map(
    all.map(([key, raw]) => {
      const one = fields(raw);
      const numbers = NUMBERS.map((name) => [name, count(one[name])] as const);
      return [key, { ...(Object.fromEntries(numbers) as Record<Measure, number | null>), reason: text(one.reason) }];
    }),
  );
}

export function readInfo({ result }: Reply): DocumentInfo {
  const { kind, title, lines, bytes } = result;
  return { kind: text(kind), title: text(title), lines: count(lines) ?? 0, bytes: count(bytes) ?? 0 };
}

/** The measures that a platform has, each with its column's title. */
export const COLUMNS: Record<string, [Measure, string][]> = {
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
};

/** What each title stands for. */
export const MEANING: Record<Measure, string> = {
  registers: "registers of a thread",
  spills: "bytes that a thread spills and loads back",
  shared: "bytes of shared memory of a block",
  stack: "bytes of stack of a thread",
  code_bytes: "bytes of machine code",
  instructions: "instructions of the machine",
};

export interface Order {
  by: "key" | "kind" | Measure | null;
  down: boolean;
}

/** Unknown comes last, whichever way; `by` null is the program's own order. */
export function sorted(kernels: Kernel[], figures: Map<string, Figures> | null, { by, down }: Order): Kernel[] {
  if (by === null) return kernels;
  const sign = down ? -1 : 1;
  if (by === "key" || by === "kind") return [...kernels].sort((a, b) => sign * a[by].localeCompare(b[by]));
  const of = (kernel: Kernel) => figures?.get(kernel.key)?.[by] ?? null;
  return [...kernels].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (x - y);
  });
}

export function matching(kernels: Kernel[], query: string): Kernel[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return kernels;
  return kernels.filter((kernel) => {
    const all = `${kernel.key} ${kernel.kind} ${kernel.instructions.join(" ")}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
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

/** The row of the HLO document on which the kernel's first instruction stands: the one outside of what it calls. */
export function rowOf(kernel: Kernel, line: (row: number) => string | undefined): number {
  const [name] = kernel.instructions;
  for (const [first, last] of name === undefined ? [] : [...kernel.rows].reverse()) {
    for (let row = first; row <= last; row++) if (line(row)?.includes(`%${name} = `)) return row;
  }
  return -1;
}

/** Which two stages to show at first: the most readable one and the machine's own. */
export const FIRST_STAGES: Record<string, [string, string]> = {
  cpu: ["llvm", "asm"],
  cuda: ["ptx", "sass"],
  tpu: ["mosaic", "bundles"],
};
