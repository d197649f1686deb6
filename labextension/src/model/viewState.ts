/** Where the user is in a session: names of tabs and panes, numbers of rows. Read from the browser's storage, which any page of the host can write. */

import { capped, count, entries, type Fields, fields, list, number } from "../wire/check";
import type { Layout } from "./layout";
import type { Place } from "./place";
import type { Session } from "./session";

interface FoldedDocument {
  kind: string;
  /** As many lines as it had: of another length it is another document. */
  lines: number;
  rows: number[];
}

export interface ViewState {
  /** Of the cell that the rows were of; "" where that is not known. */
  run: string;
  call: number;
  view: string;
  active: string;
  measure: string;
  selected: (Place & { lines: number }) | null;
  panes: string[] | null;
  widths: Record<string, number>;
  height: number | null;
  folds: FoldedDocument[];
}

const MOST_NAMES = 20;
const MOST_ROWS = 500;
const LONGEST_NAME = 60;
const NAME = /^[\w:.* -]*$/;

function name(raw: unknown): string {
  const text = capped(raw, LONGEST_NAME);
  return NAME.test(text) ? text : "";
}

const within = (raw: unknown, least: number, most: number): number | null => {
  const value = number(raw);
  return value !== null && value >= least && value <= most ? value : null;
};

function readFolds(raw: Fields): FoldedDocument {
  return { kind: name(raw.kind), lines: count(raw.lines), rows: list(raw.rows, MOST_ROWS).map(count) };
}

export function readViewState(raw: unknown): ViewState {
  const state = fields(raw);
  const selected = fields(state.selected);
  const doc = name(selected.doc);
  return {
    run: name(state.run),
    call: count(state.call),
    view: name(state.view),
    active: name(state.active),
    measure: name(state.measure),
    selected: doc ? { doc, row: count(selected.row), lines: count(selected.lines) } : null,
    panes: Array.isArray(state.panes) ? list(state.panes, MOST_NAMES).map(name).filter(Boolean) : null,
    widths: Object.fromEntries(
      entries(state.widths, MOST_NAMES).flatMap(([kind, width]) => {
        const share = within(width, 0.01, 100);
        return name(kind) && share !== null ? [[kind, share]] : [];
      }),
    ),
    height: within(state.height, 50, 10_000),
    folds: list(state.folds, MOST_NAMES).map(fields).map(readFolds),
  };
}

const linesOf = (session: Session, kind: string): number => session.selection.summary?.documents.find((info) => info.kind === kind)?.lines ?? -1;

export function viewStateOf(session: Session, layout: Layout): ViewState {
  const { view, active, measure, selected } = session.selection.get();
  const lines = selected ? linesOf(session, selected.doc) : -1;
  return {
    run: session.panel.state.run,
    call: session.selection.call,
    view,
    active,
    measure,
    selected: selected && lines >= 0 ? { doc: selected.doc, row: selected.row, lines } : null,
    panes: layout.panes,
    widths: layout.widths,
    height: layout.height,
    folds: session.documents.folded().filter(({ kind }) => linesOf(session, kind) >= 0),
  };
}

/** Tab and call as they were; selection and folds where they are of the same run and of documents as long. */
export function restore(session: Session, kept: ViewState): void {
  const { run, call, view, active, measure, selected, folds } = kept;
  if (call < session.panel.state.calls.length) session.selection.set({ call });
  session.selection.set({ view, measure, ...(linesOf(session, active) >= 0 && { active }) });
  if (run && session.panel.state.run && run !== session.panel.state.run) return;
  session.documents.foldWhenLoaded(folds.filter(({ kind, lines }) => linesOf(session, kind) === lines));
  if (!selected || linesOf(session, selected.doc) !== selected.lines || selected.row >= selected.lines) return;
  session.selection.set({ selected: { doc: selected.doc, row: selected.row, from: "" } });
}

export const layoutOf = ({ panes, widths, height }: ViewState): Partial<Layout> => ({ panes, widths, height });
