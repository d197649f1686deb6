/** The kernel's list of inspections, read from untrusted JSON. */

import { capped, type Fields, fields, list, number, text, textOrNull, texts } from "../../../wire/check";
import { type StageState, stageState } from "../../../wire/state";

export interface StageTime {
  name: string;
  state: StageState;
  seconds: number | null;
  /** What is to be said of the time, such as that the result was cached; "" for nothing. */
  note: string;
}

export interface InspectedTarget {
  target: string;
  status: StageState;
  stages: StageTime[];
  /** Why a stage failed, in one line. */
  error: string | null;
}

/** A part of the memory that an inspection holds; `bytes` is null where that is unknown, for the reason given. */
export interface HeldMemory {
  part: string;
  bytes: number | null;
  reason: string;
}

/** One call, with the targets that it was inspected for. */
export interface Inspected {
  /** Names it in its kernel. */
  id: string;
  /** The id of its cell; null where no cell made it. */
  cell: string | null;
  label: string;
  name: string;
  signature: string;
  /** Seconds since 1970. */
  made: number;
  status: StageState;
  targets: InspectedTarget[];
  memory: HeldMemory[];
  /** What to change first, in a sentence; "" where nothing was found. */
  finding: string;
  /** The user's variables that hold it. */
  variables: string[];
  isFreed: boolean;
}

export interface InspectionList {
  rows: Inspected[];
  /** How many more the kernel has. */
  leftOut: number;
}

/** What the kernel sends is bounded; a damaged reply is too. */
const MOST = 500;
const MOST_PARTS = 50;
const LONGEST_SIGNATURE = 20_000;

const readStage = (raw: Fields): StageTime => ({ name: text(raw.name), state: stageState(raw.state), seconds: number(raw.seconds), note: text(raw.note) });

const readTarget = (raw: Fields): InspectedTarget => ({
  target: text(raw.target),
  status: stageState(raw.status),
  stages: list(raw.stages, MOST_PARTS).map(fields).map(readStage),
  error: textOrNull(raw.error),
});

const readHeld = (raw: Fields): HeldMemory => {
  const bytes = number(raw.bytes);
  return { part: text(raw.part), bytes: bytes === null ? null : Math.max(0, bytes), reason: text(raw.reason) };
};

function readInspected(raw: Fields): Inspected {
  return {
    id: capped(raw.id, 100),
    cell: textOrNull(raw.cell),
    label: text(raw.label),
    name: text(raw.name),
    signature: capped(raw.signature, LONGEST_SIGNATURE),
    made: number(raw.made) ?? 0,
    finding: capped(raw.finding, LONGEST_SIGNATURE),
    status: stageState(raw.status),
    targets: list(raw.targets, MOST_PARTS).map(fields).map(readTarget),
    memory: list(raw.memory, MOST_PARTS).map(fields).map(readHeld),
    variables: texts(raw.variables, MOST_PARTS).filter(Boolean),
    isFreed: false,
  };
}

/** The inspections in the kernel's order, the newest first; each once. */
export function readInspections(result: Fields): InspectionList {
  const all = list(result.inspections, MOST).map(fields).map(readInspected).filter(({ id }) => id);
  const rows = [...new Map(all.map((one) => [one.id, one])).values()];
  return { rows, leftOut: Math.max(0, number(result.left_out) ?? 0) };
}

/** The kernel's rows and those that were freed on this page, unless their cell has been inspected since. */
export function withFreed(rows: Inspected[], freed: Inspected[]): Inspected[] {
  const stays = freed.filter(({ id, cell }) => !rows.some((one) => one.id === id || (cell !== null && one.cell === cell)));
  return [...rows, ...stays].sort((a, b) => b.made - a.made || Number(b.id) - Number(a.id));
}

/** Stages that all targets share, as one tracing and lowering may serve several, and those of each target alone. */
export function sharedStages(targets: InspectedTarget[]): { shared: StageTime[]; own: StageTime[][] } {
  const [first, ...others] = targets;
  const isSame = (a: StageTime, b?: StageTime) => a.name === b?.name && a.state === b.state && a.seconds === b.seconds;
  let count = 0;
  if (first && others.length) while (count < first.stages.length && others.every(({ stages }) => isSame(first.stages[count] as StageTime, stages[count]))) count++;
  return { shared: first?.stages.slice(0, count) ?? [], own: targets.map(({ stages }) => stages.slice(count)) };
}
