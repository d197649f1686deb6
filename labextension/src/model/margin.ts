/** What may stand beside the lines of a call, asked of the kernel once it is chosen; and it by lines of a file. */

import type { Doc } from "./document";
import { SOURCE } from "./place";
import { Heat, MEASURES } from "./heat";
import { LANES, Lane, written } from "./lane";
import { sourceLine } from "./links";
import type { Question } from "./question";
import type { Documents } from "./documents";
import type { Selection } from "./selection";
import type { Questions } from "./question";

/** The tab that a call has where it has such a measure. */
const TABS = { FLOPs: "cost", bytes: "cost", memory: "memory", sharding: "shardings", dtypes: "dtypes", time: "timeline" };

const isCost = (measure: string): boolean => MEASURES.some((name) => name === measure);

export function offeredMargins(selection: Selection): string[] {
  const views = selection.summary?.views ?? [];
  return [...MEASURES, ...LANES].filter((name) => views.includes(TABS[name]));
}

const heatQuestion = (questions: Questions, measure: string): Question<Heat> =>
  questions.asked("heat", { measure }, (reply) => Heat.read(measure, reply));

const laneQuestion = (questions: Questions, lane: string): Question<Lane> => questions.asked("lane", { lane }, Lane.read);

/** Chooses what stands beside the lines, "" for nothing. */
export function chooseMargin(selection: Selection, measure: string): void {
  if (measure !== selection.get().measure) selection.set({ measure, heat: null, lane: null });
}

/** Asks for what is chosen though no view of the code is open; what is returned stops waiting for it. */
export function askMargin(selection: Selection, questions: Questions): () => void {
  const { measure } = selection.get();
  const question = isCost(measure) ? heatQuestion(questions, measure) : laneQuestion(questions, measure);
  const take = () => {
    const { value } = question.now;
    if (value && selection.get().measure === measure) selection.set(value instanceof Heat ? { heat: value } : { lane: value });
  };
  const end = question.use(take);
  take();
  return end;
}

export interface MarginLine {
  line: number;
  /** Beside the line that has most; NaN unknown, null where it is no quantity. */
  share: number | null;
  text: string;
  title: string;
}

/** What stands beside the lines of a file, as beside its rows in the source pane. */
export function marginLines(documents: Documents, selection: Selection, file: number): MarginLine[] {
  const doc = documents.loaded(SOURCE);
  const lines: MarginLine[] = [];
  for (let row = 0; doc?.rows && row < doc.rows.frame.length; row++) {
    const at = sourceLine(doc.rows, row);
    const beside = at?.file === file ? besideRow(documents, selection, doc, row) : null;
    if (at && beside) lines.push({ line: at.line, ...beside });
  }
  return lines;
}

function besideRow(documents: Documents, selection: Selection, doc: Doc, row: number): Omit<MarginLine, "line"> | null {
  const { heat, lane } = selection.get();
  const cost = heat?.of(documents, doc, row);
  if (cost) return { share: cost.share, text: cost.figure, title: cost.title };
  const mark = lane?.at(doc.kind, row);
  return mark ? { share: null, text: written(mark), title: mark.text } : null;
}
