/** What the kernel answers of the persistent cache, checked. */

import { widthOfTexts } from "../../parts/grid/widths";
import { byName, count, fields, list, sentences, text } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { type Field, type TableReply, readTable } from "../../wire/tables";

const WIDTHS = { size: 70, compile: 74 };
const MOST_PX = byName<number>({ program: 260, key: 640 });
const USUAL_MOST_PX = 200;
/** What is not known of an entry, in the words of the report's other forms. */
const MISSING = byName<string>({ state: "not checked" });

/** As wide as what it holds; the key, which is the last, takes what is left. */
function fitted(field: Field): Field {
  if (field.kind !== "text") return field;
  const missing = MISSING[field.name] ?? field.missing;
  const least = widthOfTexts([...field.strings, missing], field.title, [40, MOST_PX[field.name] ?? USUAL_MOST_PX]);
  return { ...field, missing, least, isFixed: field.name !== "key" };
}

export interface Advice {
  sentence: string;
  code: string;
}

export interface Cache extends TableReply {
  headline: string;
  warnings: string[];
  sentences: string[];
  advice: Advice[];
  leftOut: number;
  /** Whole paths, which no saved answer has. */
  folder: string;
  setFolder: string;
  keys: string[];
}

const pair = (raw: unknown): [string, string] => {
  const [first, second] = list(raw, 2);
  return [text(first), text(second)];
};

export async function readCache(reply: Reply): Promise<Cache> {
  const table = await readTable(reply, WIDTHS);
  const { result } = table;
  const key = table.grid.fields.find(({ name }) => name === "key");
  return {
    ...table,
    grid: { ...table.grid, fields: table.grid.fields.map(fitted) },
    headline: text(result.headline),
    warnings: sentences(result.warnings),
    sentences: sentences(result.sentences),
    advice: list(result.advice, 10).map(pair).map(([sentence, code]) => ({ sentence, code })),
    leftOut: count(result.left_out),
    folder: text(result.folder),
    setFolder: text(result.set_folder),
    keys: key?.kind === "text" ? Array.from(key.codes, (code) => key.strings[code] ?? "") : [],
  };
}

export interface EntryAbout {
  key: string;
  facts: [name: string, value: string][];
  missed: string[];
  diff: string[];
  records: string[];
}

export function readEntry({ result }: Reply): EntryAbout {
  const about = fields(result);
  return {
    key: text(about.key),
    facts: list(about.facts, 20).map(pair),
    missed: sentences(about.missed),
    diff: list(about.diff, 500).map(text),
    records: sentences(about.records),
  };
}

export const readMisses = ({ result }: Reply): string => text(fields(result).words);
