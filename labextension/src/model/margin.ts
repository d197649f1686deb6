/** What may stand beside the lines of a call, asked of the kernel once it is chosen; and it by lines of a file. */

import { type Doc, SOURCE } from "./document";
import { Heat, MEASURES } from "./heat";
import { LANES, Lane, written } from "./lane";
import { sourceLine } from "./links";
import type { Question } from "./question";
import type { Session } from "./session";

/** The tab that a call has where it has such a measure. */
const TABS = { FLOPs: "cost", bytes: "cost", memory: "memory", sharding: "shardings", dtypes: "dtypes", time: "timeline" };

const isCost = (measure: string): boolean => MEASURES.some((name) => name === measure);

export function offeredMargins(session: Session): string[] {
  const views = session.summary?.views ?? [];
  return [...MEASURES, ...LANES].filter((name) => views.includes(TABS[name]));
}

export const heatQuestion = (session: Session, measure: string): Question<Heat> =>
  session.asked("heat", { measure }, (reply) => Heat.read(measure, reply));

export const laneQuestion = (session: Session, lane: string): Question<Lane> => session.asked("lane", { lane }, Lane.read);

/** Chooses what stands beside the lines, "" for nothing. */
export function chooseMargin(session: Session, measure: string): void {
  if (measure !== session.store.get().measure) session.store.set({ measure, heat: null, lane: null });
}

/** Asks for what is chosen though no view of the code is open; what is returned stops waiting for it. */
export function askMargin(session: Session): () => void {
  const { measure } = session.store.get();
  const question = isCost(measure) ? heatQuestion(session, measure) : laneQuestion(session, measure);
  const take = () => {
    const { value } = question.now;
    if (value && session.store.get().measure === measure) session.store.set(value instanceof Heat ? { heat: value } : { lane: value });
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
export function marginLines(session: Session, file: number): MarginLine[] {
  const doc = session.loaded(SOURCE);
  const lines: MarginLine[] = [];
  for (let row = 0; doc?.rows && row < doc.rows.frame.length; row++) {
    const at = sourceLine(doc.rows, row);
    const beside = at?.file === file ? besideRow(session, doc, row) : null;
    if (at && beside) lines.push({ line: at.number, ...beside });
  }
  return lines;
}

function besideRow(session: Session, doc: Doc, row: number): Omit<MarginLine, "line"> | null {
  const { heat, lane } = session.store.get();
  const cost = heat?.of(session, doc, row);
  if (cost) return { share: cost.share, text: cost.figure, title: cost.title };
  const mark = lane?.at(doc.kind, row);
  return mark ? { share: null, text: written(mark), title: mark.text } : null;
}
