/** SASS names, at the end of each line, the line of PTX that it came from. */

import type { Doc } from "./document";
import type { Session } from "./session";
import type { Pick } from "./selection";

const PTX_LINE = /\/\/ PTX (\d+)$/;

/** The row of PTX that a line of SASS came from, or -1. */
function ptxRow(line: string | undefined): number {
  const found = PTX_LINE.exec(line ?? "");
  return found ? Number(found[1]) - 1 : -1;
}

/** Whether a row of one text of a kernel belongs to the row that is picked in the other. */
export function paired(session: Session, doc: Doc, pick: Pick | null): (row: number) => boolean {
  const [stage, ...name] = (pick?.doc ?? "").split(":");
  const there = pick && session.loaded(pick.doc);
  if (!there || doc.kind === pick.doc) return () => false;
  if (stage === "sass" && doc.kind === `ptx:${name.join(":")}`) {
    const wanted = ptxRow(there.text?.line(pick.row));
    return (row) => row === wanted;
  }
  if (stage === "ptx" && doc.kind === `sass:${name.join(":")}`) {
    return (row) => ptxRow(doc.text?.line(row)) === pick.row;
  }
  return () => false;
}

/** The first such row, or -1. */
export function firstPaired(session: Session, doc: Doc, pick: Pick): number {
  const isPaired = paired(session, doc, pick);
  const length = doc.text?.length ?? 0;
  for (let row = 0; row < length; row++) if (isPaired(row)) return row;
  return -1;
}
