/** Which events stand out: those of the selected line or instruction, or those that a search has found. */

import { NONE, STRONG, WEAK, inRange } from "../../model/links";
import type { TimelineState } from "./model";
import type { Ink } from "./paintLanes";
import { type Rgb, colourOf } from "./palette";
import type { Look } from "./read";
import type { TileCache } from "./tiles";
import type { Documents } from "../../model/documents";
import type { Selection } from "../../model/selection";

/** How a look belongs to what is selected: NONE, WEAK or STRONG. */
function litness(documents: Documents, selection: Selection, look: Look, file: number): number {
  const { selected } = selection.get();
  if (!selected) return NONE;
  if (selected.doc === "hlo" && selected.row === look.row && look.row >= 0) return STRONG;
  const lit = documents.lit(selected);
  const frame = look.row >= 0 ? (documents.loaded("hlo")?.rows?.frame[look.row] ?? -1) : -1;
  if (lit && frame >= 0) return lit.frames[frame] ?? NONE;
  return lit && look.line >= 0 && inRange(lit.source, { file, line: look.line }) ? STRONG : NONE;
}

/** Of each look its class; without a selection, and where nothing belongs to it, none stands back. */
function chosen(documents: Documents, selection: Selection, looks: readonly Look[]): ((look: number) => boolean) | null {
  const files = new Map(documents.frames()?.files.map(({ name }, i) => [name, i]));
  const classes = Uint8Array.from(looks, (look) => litness(documents, selection, look, files.get(look.file) ?? -1));
  const best = classes.includes(STRONG) ? STRONG : classes.includes(WEAK) ? WEAK : NONE;
  return best === NONE ? null : (look) => classes[look] === best;
}

type Inks = Omit<Ink, "background" | "strength">;

export function inksOf(documents: Documents, selection: Selection, cache: TileCache, { colouring, hits }: Pick<TimelineState, "colouring" | "hits">): Inks {
  const stands = hits ? (look: number) => hits.has(cache.numbers[look] ?? -1) : chosen(documents, selection, cache.looks);
  const colours: Rgb[] = [];
  return {
    colour: (look) => (colours[look] ??= colourOf(documents, cache.looks[look] as Look, colouring)),
    faded: (look) => stands !== null && !stands(look),
  };
}
