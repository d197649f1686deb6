import { counted } from "../../../wire/figures";
import type { Params } from "../../../wire/source";
import { type DifferenceLine, type TextDifference, readDifference } from "./comparison";
import { type Ask, useAnswer } from "./useAnswer";

/** What stands before a line, as a word for those who cannot see its colour. */
const SIGNS: Record<DifferenceLine["what"], [sign: string, word: string]> = {
  same: ["", ""],
  renamed: ["≈", "only names differ"],
  changed: ["~", "changed"],
  moved: [">", "moved"],
  removed: ["−", "only in the first"],
  added: ["+", "only in the second"],
  skipped: ["", ""],
};
const WORDS: Record<string, string> = {
  removed: "only in the first",
  added: "only in the second",
  renamed: "differ in names alone",
  changed: "changed",
  moved: "moved",
};

const place = (row: number | null) => (row === null ? "" : String(row + 1));

function Line({ line }: { line: DifferenceLine }) {
  const [sign, word] = SIGNS[line.what];
  if (line.what === "skipped") {
    return (
      <div class="jxs-inspections-compared-line jxs-inspections-compared-skipped jxs-dim" role="row">
        <span role="cell">{line.text}</span>
      </div>
    );
  }
  return (
    <div class={`jxs-inspections-compared-line jxs-inspections-compared-${line.what}`} role="row" data-what={line.what} title={word || undefined}>
      <span role="cell" class="jxs-inspections-compared-number jxs-dim">{place(line.before)}</span>
      <span role="cell" class="jxs-inspections-compared-number jxs-dim">{place(line.after)}</span>
      <span role="cell" class="jxs-inspections-compared-sign">
        <span aria-hidden="true">{sign}</span>
        {word && <span class="jxs-hidden">{word}</span>}
      </span>
      <code role="cell">{line.text}</code>
    </div>
  );
}

function Counts({ difference }: { difference: TextDifference }) {
  const { counts } = difference;
  if (!counts.length) return <p class="jxs-note">No difference but names and metadata.</p>;
  return <p class="jxs-note">{counts.map(([what, n]) => `${counted(n)} ${WORDS[what] ?? what}`).join(" · ")}</p>;
}

/** The lines in which a document of both differs, with those around them. */
export function DifferenceView({ ask, params }: { ask: Ask; params: Params }) {
  const { value, problem } = useAnswer(async () => readDifference((await ask("compare_document", params)).result), [params.doc]);
  if (problem) return <p class="jxs-note jxs-side-problem" role="alert">{problem}</p>;
  if (!value) return <p class="jxs-note jxs-dim" role="status">Comparing line by line…</p>;
  return (
    <div class="jxs-column" data-difference={params.doc}>
      <Counts difference={value} />
      <div class="jxs-inspections-compared-lines" role="table" aria-label="differing lines" tabIndex={0}>
        {value.lines.map((line, at) => (
          <Line line={line} key={at} />
        ))}
      </div>
      {value.leftOut > 0 && <p class="jxs-note">{counted(value.leftOut)} more lines of the difference are not shown.</p>}
    </div>
  );
}
