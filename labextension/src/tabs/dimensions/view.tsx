import { Said } from "../../parts/said";
import { Waiting } from "../../parts/waiting";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Answer } from "../../model/question";
import { useDoc, useDocuments, useKeptState, useQuestion, useQuestions, useSelected, useSelection } from "../../parts/hooks";
import { lineOf, rowOfLine } from "../../model/sourceLines";
import { AboutDimension, Alone } from "./alone";
import { Arguments } from "./arguments";
import { Chips } from "./chips";
import { markJaxpr } from "./inJaxpr";
import { type Dimensions, readDimensions } from "./read";

function Shown({ found }: { found: Dimensions }) {
  const documents = useDocuments();
  const selection = useSelection();
  const [kept, keep] = useKeptState(`dimension ${selection.call}`, 0);
  const selected = useSelected((s) => s.selected);
  useDoc(documents.doc("python"));
  useEffect(() => markJaxpr(selection, selection.call, found), [found]);
  const { dimensions } = found;
  const current = Math.min(kept, dimensions.length - 1);
  const line = selected && selected.from !== "dimensions" ? lineOf(documents, selected) : "";
  const goTo = (to: string, isShown: boolean) => {
    const row = rowOfLine(documents, to);
    if (row >= 0 && isShown) selection.show("python", row);
    else if (row >= 0) selection.select("python", row, "dimensions");
    else if (isShown) selection.say("No source line is known for this dimension.");
  };
  const pick = (place: number) => {
    keep(place);
    goTo(dimensions[place]?.lines[0] ?? "", false);
  };
  const dimension = dimensions[current];
  if (!dimension) return null;
  return (
    <>
      <Chips dimensions={dimensions} current={current} onPick={pick} />
      <div class="jxs-dimensions-body jxs-grow">
        <div class="jxs-dimension-costs jxs-column">
          <Alone
            dimensions={dimensions}
            current={current}
            isLit={(place) => line !== "" && dimensions[place]?.lines.includes(line) === true}
            onPick={pick}
            onOpen={(place) => goTo(dimensions[place]?.lines[0] ?? "", true)}
          />
          <AboutDimension dimension={dimension} dimensions={dimensions} onPick={pick} onLine={(to) => goTo(to, false)} />
        </div>
        <Arguments found={found} current={current} onPick={pick} />
      </div>
    </>
  );
}

/** The named dimensions of the program, where they are, and what splitting each alone costs. */
export default function DimensionsView() {
  const question = useQuestion("dimensions", { quick: false }, readDimensions);
  return question.value ? <Found found={question.value} /> : <Early question={question} />;
}

/** The names, which are there long before the costs; a saved panel has the costs or nothing. */
function Early({ question }: { question: Answer<Dimensions> }) {
  const { isSaved } = useQuestions();
  const what = "Partitioning the program for each dimension";
  if (isSaved || question.problem) return <Waiting question={question} what={what} />;
  return <Named waiting={<Waiting question={question} what={what} />} />;
}

function Named({ waiting }: { waiting: JSX.Element }) {
  const quick = useQuestion("dimensions", { quick: true }, readDimensions);
  return (
    <>
      {waiting}
      {quick.value && <Found found={quick.value} />}
    </>
  );
}

function Found({ found }: { found: Dimensions }) {
  return (
    <div class="jxs-dimensions jxs-column jxs-grow">
      <p class="jxs-headline">
        <Said text={found.headline} />
      </p>
      <Shown found={found} />
      {found.notes.map((note) => (
        <p class="jxs-note" key={note}>
          <Said text={note} />
        </p>
      ))}
    </div>
  );
}
