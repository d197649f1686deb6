/** A measure of cost beside each line: of HLO as the kernel counts it, of source what its lines made. */

import { Columns } from "../wire/columns";
import type { Doc } from "./document";
import { percent, scaled } from "../wire/figures";
import type { Frames } from "./frames";
import { lineKey, lineOfFrame, sourceLine } from "./links";
import type { Reply } from "../wire/source";

export const MEASURES = ["FLOPs", "bytes", "memory"] as const;
/** The measures that are parts of another whole than the program's cost, and what they are called. */
const WHOLES: Record<string, string> = { memory: "the bytes live at the peak" };

const largest = (of: Map<string | number, number>) => [...of.values()].reduce((most, value) => (value > most ? value : most), 0);

/** Where it finds the module and the frames that its rows came from. */
interface Linked {
  doc(kind: string): Doc | null;
  frames(): Frames | null;
}

export class Heat {
  private total = 0;
  private most = 0;
  private lines: { of: unknown; at: Map<string, number>; most: number } | null = null;

  private constructor(
    readonly measure: string,
    /** By row of the HLO document; NaN where it is not known. */
    private rows: Map<number, number>,
    /** What counts for the line of a row: a fusion's work is that of its members, at their rows. */
    private own: Map<number, number>,
  ) {
    for (const value of own.values()) if (value > 0) this.total += value;
    this.most = largest(rows);
  }

  static async read(measure: string, reply: Reply): Promise<Heat> {
    const columns = await Columns.of(reply);
    const row = columns.ints("row");
    const read = (name: string) => {
      const value = columns.floats(name, row.length);
      return new Map(Array.from(row, (at, i): [number, number] => [at, value[i] ?? Number.NaN]));
    };
    return new Heat(measure, read("value"), read(columns.found.has("own") ? "own" : "value"));
  }

  /** What a row of a document has of it: beside the row that has most, of the whole, and in words; null for nothing. */
  of(documents: Linked, doc: Doc, row: number): { share: number; figure: string; title: string } | null {
    const value = doc.kind === "hlo" ? this.rows.get(row) : this.ofLine(documents, doc, row);
    if (value === undefined) return null;
    if (Number.isNaN(value)) return { share: Number.NaN, figure: "?", title: `${this.measure}: unknown` };
    const most = doc.kind === "hlo" ? this.most : (this.lines?.most ?? 0);
    const unit = this.measure === "FLOPs" ? "FLOP" : "B";
    const figure = percent(value, this.total);
    return { share: most ? value / most : 0, figure, title: `${scaled(value, unit)}, ${figure} of ${WHOLES[this.measure] ?? "what is known"}` };
  }

  private ofLine(documents: Linked, doc: Doc, row: number): number | undefined {
    const line = doc.rows && sourceLine(doc.rows, row);
    return line ? this.byLine(documents).get(lineKey(line)) : undefined;
  }

  /** By "file,line". What is not known adds nothing, but makes a line that has nothing else unknown. */
  private byLine(documents: Linked): Map<string, number> {
    const [hlo, frames] = [documents.doc("hlo")?.rows, documents.frames()];
    if (this.lines && this.lines.of === hlo) return this.lines.at;
    const at = new Map<string, number>();
    for (const [row, value] of this.own) {
      if (value === 0) continue;
      const anchor = frames?.anchor[hlo?.frame[row] ?? -1] ?? -1;
      if (!hlo || !frames || anchor < 0) continue;
      const key = lineKey(lineOfFrame(frames, anchor));
      const before = at.get(key);
      at.set(key, before === undefined || Number.isNaN(before) ? value : before + (value || 0));
    }
    this.lines = { of: hlo, at, most: largest(at) };
    return at;
  }
}
