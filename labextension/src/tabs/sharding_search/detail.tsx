import { useEffect } from "preact/hooks";
import { useKeptState, useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { GridView } from "../../parts/grid/gridView";
import { Said } from "../../parts/said";
import { useLast } from "../../parts/useLast";
import { Waiting } from "../../parts/waiting";
import { count, text } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { CodeForms } from "./codeForms";
import { CollectivesOfLayout } from "./collectives";
import { type About, type AxisOfLayout, ESTIMATE, type Part, readAbout, seconds } from "./read";

const between = ({ least, most }: Part) => (least === most ? seconds(least) : `${seconds(least)} to ${seconds(most)}`);

function Times({ parts }: { parts: Part[] }) {
  const isCompiled = parts.some(({ compiled }) => compiled !== null);
  return (
    <table class="jxs-ss-times" aria-label="where the time of one call goes">
      <thead>
        <tr>
          <th scope="col">time of one call</th>
          <th scope="col">estimate</th>
          {isCompiled && <th scope="col">compiled</th>}
        </tr>
      </thead>
      <tbody>
        {parts.map((part) => (
          <tr key={part.name}>
            <th scope="row">{part.name}</th>
            <td>{between(part)}</td>
            {isCompiled && <td>{part.compiled === null ? "unknown" : `at least ${seconds(part.compiled)}`}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const uses = ({ splits, stores }: AxisOfLayout): string => [splits && `splits ${splits}`, stores && "stores parameters"].filter(Boolean).join(", ");

function Axes({ axes }: { axes: AxisOfLayout[] }) {
  return (
    <dl class="jxs-ss-axes" aria-label="what each axis of the mesh does">
      {axes.map((axis) => (
        <div key={axis.axis}>
          <dt>{`${axis.axis}=${axis.size}`}</dt>
          <dd>{uses(axis) || "see the specs"}</dd>
        </div>
      ))}
    </dl>
  );
}

const readText = ({ result }: Reply) => text(result.text);

function Compiling({ number, onDone }: { number: number; onDone: () => void }) {
  const question = useQuestion("sharding_search_compile", { layout: number }, readText);
  useEffect(() => {
    if (question.value !== null) onDone();
  }, [question.value]);
  return question.value === null ? <Waiting question={question} what="Compiling this layout" /> : null;
}

function Opening({ number, onDone }: { number: number; onDone: () => void }) {
  const selection = useSelection();
  const question = useQuestion("sharding_search_open", { layout: number }, ({ result }) => ({ call: count(result.call) }));
  useEffect(() => {
    if (!question.value) return;
    onDone();
    selection.pickCall(question.value.call);
  }, [question.value]);
  return question.value ? null : <Waiting question={question} what="Compiling this layout to open it" />;
}

interface Props {
  number: number;
  opening: number;
  onOpening: (number: number) => void;
  onCompiled: () => void;
}

/** One layout: its choices and what each is worth, its times, whether it fits, its specs, and it as code. */
export function Detail({ number, opening, onOpening, onCompiled }: Props) {
  const selection = useSelection();
  const { isSaved } = useQuestions();
  const [compiling, compile] = useKeptState(`compile layout ${selection.call} ${number}`, false);
  const question = useQuestion<About>("sharding_search_layout", { layout: number }, readAbout);
  const about = useLast(question);
  const done = () => {
    compile(false);
    question.askAgain();
    onCompiled();
  };
  if (!about || about.number !== number) return <Waiting question={question} what="Comparing it with the layouts beside it" />;
  return (
    <section class="jxs-ss-detail" aria-label="the chosen layout">
      <h3 class="jxs-anywhere">
        <Said text={about.title} />
        {about.isOwn && " (your own specs)"}
      </h3>
      {!isSaved && (
        <div class="jxs-strip">
          {about.state === ESTIMATE && !compiling && (
            <button type="button" class="jxs-button jxs-boxed" title="Tells whether it fits; nothing is run" onClick={() => compile(true)}>
              Compile it
            </button>
          )}
          <button type="button" class="jxs-button jxs-boxed" title="Show its code, cost, memory and collectives beside this call; compiles it" onClick={() => onOpening(number)}>
            Open it
          </button>
        </div>
      )}
      {compiling && !isSaved && <Compiling number={number} onDone={done} />}
      {opening === number && !isSaved && <Opening number={number} onDone={() => onOpening(-1)} />}
      <p class="jxs-anywhere">
        <Said text={about.fit} />
      </p>
      {about.decisions.length > 0 && (
        <ul class="jxs-ss-decisions">
          {about.decisions.map((said) => (
            <li key={said}>
              <Said text={said} />
            </li>
          ))}
        </ul>
      )}
      <div class="jxs-ss-facts">
        <Axes axes={about.axes} />
        <Times parts={about.parts} />
      </div>
      <p class="jxs-dim jxs-anywhere">
        <Said text={about.counted} />
      </p>
      <CollectivesOfLayout collectives={about.collectives} />
      {about.notes.map((note) => (
        <p class="jxs-dim jxs-anywhere" key={note}>
          <Said text={note} />
        </p>
      ))}
      <CodeForms code={about.code} />
      {about.specs.grid.length > 0 && <GridView grid={about.specs.grid} label="the specs of the arguments" isLined />}
    </section>
  );
}
