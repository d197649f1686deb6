/** Lines of SASS belong to the lines of PTX that they came from. */

import type { Doc } from "./document";
import type { Pick } from "./place";
import type { Documents } from "./documents";

/** How a line of SASS ends: with the line of PTX that it came from. */
const PTX_LINE = /\/\/ PTX (\d+)$/;

/** The row of PTX that a row of SASS came from, or -1. */
function ptxRow({ text }: Doc, row: number): number {
  const match = PTX_LINE.exec(text?.line(row) ?? "");
  return match ? Number(match[1]) - 1 : -1;
}

/** Whether a row of one text of a kernel belongs to the row that is picked in the other. */
export function paired(documents: Documents, doc: Doc, pick: Pick | null): (row: number) => boolean {
  const [stage, ...name] = (pick?.doc ?? "").split(":");
  const picked = pick && documents.loaded(pick.doc);
  if (!picked || doc.kind === pick.doc) return () => false;
  if (stage === "sass" && doc.kind === `ptx:${name.join(":")}`) {
    const wanted = ptxRow(picked, pick.row);
    return (row) => row === wanted;
  }
  if (stage === "ptx" && doc.kind === `sass:${name.join(":")}`) {
    return (row) => ptxRow(doc, row) === pick.row;
  }
  return () => false;
}

/** The first such row, or -1. */
export function firstPaired(documents: Documents, doc: Doc, pick: Pick): number {
  const isPaired = paired(documents, doc, pick);
  const length = doc.text?.length ?? 0;
  for (let row = 0; row < length; row++) if (isPaired(row)) return row;
  return -1;
}
