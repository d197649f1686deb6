import { byName, number, text } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { useDoc, useDocuments, useQuestion, useSelection } from "../../parts/hooks";
import { rowOfLine } from "../../model/sourceLines";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

interface Answer {
  text: string;
  line: string;
  row: number;
  state: string;
  view: string;
}

const LONGEST = 2000;
const QUESTIONS: [name: string, question: string, meanwhile: string][] = [
  ["bound", "What bounds it?", "Counting FLOPs and bytes"],
  ["fit", "Does it fit?", "Recompiling for the buffer assignment"],
  ["memory", "Which line holds the most memory?", "Recompiling for the buffer assignment"],
  ["collective", "Which collective costs the most?", "Finding the collectives and their causes"],
  ["time", "Which line takes the time, and is the device idle?", "Summing the profile"],
];
const MARKS = byName<string>({ yes: "✓", "only with a setting": "!", no: "✕", unknown: "?" });
const TABS = byName<string>({ cost: "Cost", memory: "Memory", collectives: "Collectives", timeline: "Timeline" });

export function read({ result }: Reply): Answer {
  const short = (value: unknown) => text(value).slice(0, LONGEST);
  const state = short(result.state);
  return {
    text: short(result.text),
    line: short(result.line),
    row: Math.floor(number(result.row) ?? -1),
    state: Object.hasOwn(MARKS, state) ? state : "",
    view: short(result.view),
  };
}

/** The source line that an answer is about, as it stands in the code; a click goes there. */
function Line({ answer }: { answer: Answer }) {
  const documents = useDocuments();
  const selection = useSelection();
  const python = documents.doc("python");
  useDoc(python);
  const source = rowOfLine(documents, answer.line);
  const code = source >= 0 ? (python?.text?.line(source) ?? "").trim() : "";
  const go = () => (source >= 0 ? selection.show("python", source) : selection.show("hlo", answer.row));
  if (source < 0 && answer.row < 0) return null;
  return (
    <button type="button" class="jxs-link jxs-answer-line jxs-cut" title="Show it in the code" onClick={go}>
      {answer.line || "show it in the HLO"} {code && <code>{code}</code>}
    </button>
  );
}

function AnswerText({ answer }: { answer: Answer }) {
  const selection = useSelection();
  const title = TABS[answer.view];
  const isOffered = title !== undefined && selection.summary?.views.includes(answer.view);
  return (
    <>
      <p class="jxs-answer jxs-anywhere" data-state={answer.state}>
        {MARKS[answer.state] && <b aria-hidden="true">{MARKS[answer.state]} </b>}
        <Said text={answer.text} />
      </p>
      <div class="jxs-answer-more">
        <Line answer={answer} />
        {isOffered && (
          <button type="button" class="jxs-button jxs-boxed" onClick={() => selection.set({ view: answer.view })}>
            Open {title}
          </button>
        )}
      </div>
    </>
  );
}

function Question({ name, question, meanwhile }: { name: string; question: string; meanwhile: string }) {
  const answer = useQuestion<Answer>("answer", { question: name }, read);
  return (
    <section class="jxs-question" aria-label={question} data-question={name}>
      <h4>{question}</h4>
      {answer.value ? <AnswerText answer={answer.value} /> : <Waiting question={answer} what={meanwhile} />}
    </section>
  );
}

/** What somebody new to a program wants to know first, in a sentence each. */
export default function AnswersView() {
  return (
    <div class="jxs-answers">
      {QUESTIONS.map(([name, question, meanwhile]) => (
        <Question name={name} question={question} meanwhile={meanwhile} key={name} />
      ))}
    </div>
  );
}
