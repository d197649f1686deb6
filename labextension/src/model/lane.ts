/** What stands beside lines in a few characters, and the warnings at them, as the kernel lists them. */

import { byName, capped, fields, list, sentences } from "../wire/check";
import { Columns } from "../wire/columns";
import type { Reply } from "../wire/source";
import type { Place } from "./place";

export interface Mark {
  label: string;
  /** Which of `GLYPHS` stands before it. */
  kind: string;
  /** All of it, line by line. */
  text: string;
}

export const LANES = ["sharding", "dtypes", "time"] as const;

/** Full: the program's own doing; hollow: the compiler's. */
const GLYPHS = byName<string>({
  you: "■",
  compiler: "□",
  JAX: "◇",
  nobody: "·",
  promotion: "▲",
  demotion: "▼",
  change: "◆",
  "promotion compiler": "△",
  "demotion compiler": "▽",
  "change compiler": "◇",
  time: "◔",
});
const SEVERAL = "◧";

export const LEGENDS = byName<string>({
  sharding: "■ you □ compiler ◇ JAX ◧ several",
  dtypes: "▲ wider ▼ narrower; hollow: by the compiler",
  time: "share of the time in which the devices are busy, measured",
});

const MAX_MARKS = 200_000;
const MAX_TEXT = 4000;
const MAX_LABEL = 80;
const WIDEST = 22;

/** What is written beside a line. */
export const written = ({ kind, label }: Mark): string => `${GLYPHS[kind] ?? SEVERAL} ${label}`;

/** By document, the marks of its rows. */
type Rows = Map<string, Map<number, Mark>>;

async function readMarks(reply: Reply): Promise<Rows> {
  const marks = list(reply.result.marks, MAX_MARKS).map((one): Mark => {
    const [label, kind, words] = list(one, 3);
    return { label: capped(label, MAX_LABEL), kind: capped(kind, MAX_LABEL), text: capped(words, MAX_TEXT) };
  });
  const columns = await Columns.of(reply);
  const found: Rows = new Map();
  for (const name of columns.found.keys()) {
    if (!name.endsWith(" row")) continue;
    const kind = name.slice(0, -4);
    const codes = columns.ints(`${kind} mark`);
    const here = new Map<number, Mark>();
    columns.ints(name).forEach((row, i) => {
      const mark = marks[codes[i] ?? -1];
      if (mark) here.set(row, mark);
    });
    found.set(kind, here);
  }
  return found;
}

export class Lane {
  private widths = new Map<string, number>();

  private constructor(
    private rows: Rows,
    readonly notes: string[],
  ) {
    for (const [kind, marks] of rows) {
      let widest = 0;
      for (const { label } of marks.values()) widest = Math.max(widest, label.length);
      if (marks.size) this.widths.set(kind, Math.min(widest + 3, WIDEST));
    }
  }

  static async read(reply: Reply): Promise<Lane> {
    return new Lane(await readMarks(reply), sentences(reply.result.notes));
  }

  at(doc: string, row: number): Mark | null {
    return this.rows.get(doc)?.get(row) ?? null;
  }

  /** How many characters a document's lines keep room for; 0 where none of its lines has a mark. */
  width(doc: string): number {
    return this.widths.get(doc) ?? 0;
  }
}

interface Warning {
  kind: string;
  text: string;
  places: Place[];
}

const NAMES = byName<[one: string, several: string]>({
  rematerialisation: ["full rematerialisation", "full rematerialisations"],
  resharding: ["resharding", "reshardings"],
  asked: ["requested", "requested"],
});

function readWarning(raw: unknown): Warning {
  const { kind, text: words, places } = fields(raw);
  const read = list(places, 4).flatMap((place) => {
    const [doc, row] = list(place, 2);
    return typeof doc === "string" && Number.isInteger(row) ? [{ doc, row: row as number }] : [];
  });
  return { kind: capped(kind, MAX_LABEL), text: capped(words, MAX_TEXT), places: read };
}

export class Warned {
  private constructor(
    private marks: Rows,
    readonly warnings: Warning[],
    readonly total: number,
  ) {}

  static async read(reply: Reply): Promise<Warned> {
    const warnings = list(reply.result.warnings, 1000).map(readWarning);
    const { total } = reply.result;
    return new Warned(await readMarks(reply), warnings, typeof total === "number" ? Math.max(total, warnings.length) : warnings.length);
  }

  at(doc: string, row: number): Mark | null {
    return this.marks.get(doc)?.get(row) ?? null;
  }

  has(doc: string): boolean {
    return (this.marks.get(doc)?.size ?? 0) > 0;
  }

  rows(doc: string): Iterable<number> {
    return this.marks.get(doc)?.keys() ?? [];
  }

  /** Those that can be gone to. */
  get placed(): Warning[] {
    return this.warnings.filter(({ places }) => places.length);
  }

  /** "1 full rematerialisation, 2 reshardings, 1 asked for". */
  get summary(): string {
    const counted = Object.entries(NAMES).map(([kind, [one, several]]): [number, string, string] => [
      this.warnings.filter((warning) => warning.kind === kind).length,
      one,
      several,
    ]);
    return counted.flatMap(([n, one, several]) => (n ? [`${n} ${n === 1 ? one : several}`] : [])).join(", ");
  }

  /** Whether any was not asked for. */
  get isGrave(): boolean {
    return this.warnings.some(({ kind }) => kind !== "asked");
  }
}
