import { isSource } from "../model/place";
import type { DocumentInfo } from "../wire/state";

export const WIDE = 1000;
const MAX_PANES = 4;

/** Panes shown before the user chooses: the source, the last stage, and the jaxpr where there is room. */
export function defaultPanes(documents: DocumentInfo[], width: number): string[] {
  const kinds = documents.map((d) => d.kind);
  const last = kinds.filter((kind) => !isSource(kind)).at(-1);
  const wanted = width >= WIDE ? ["jaxpr", last] : [last];
  return kinds.filter((kind) => isSource(kind) || wanted.includes(kind));
}

/** The panes that the user chose and the active one, in the order of the stages and without what there is not. */
export function openPanes(chosen: string[] | null, documents: DocumentInfo[], width: number, active = ""): string[] {
  const open = chosen ?? defaultPanes(documents, width);
  return documents.map((d) => d.kind).filter((kind) => open.includes(kind) || kind === active).slice(0, MAX_PANES);
}

export function togglePane(open: string[], kind: string): string[] {
  if (!open.includes(kind)) return [...open, kind];
  return open.length > 1 ? open.filter((k) => k !== kind) : open;
}
