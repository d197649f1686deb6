import { textIn } from "../../wire/texts";
import type { ComponentChildren } from "preact";
import { copy } from "../../model/actions";
import { LinkButton } from "../../parts/buttons";
import { IconButton } from "../../parts/icons";
import { Waiting } from "../../parts/waiting";
import { counted } from "../../wire/figures";
import { type Causes, type Compiles } from "./read";
import { type CompileAbout, type Difference, type Persistent, type Place, persistentWords, readRecord, stageWords } from "./readRecord";
import { OpenButtons } from "./openButtons";
import { useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";

interface Props {
  number: number;
  onPick: (number: number) => void;
  onCompare: (other: number) => void;
}

/** Whether it has two sides; a cleared cache has none, and of a function made anew both are its name. */
const hasSides = ({ what, before, now }: Difference): boolean => (before !== "" || now !== "") && !(before === what && now === what);

function Differences({ about }: { about: CompileAbout }) {
  const differences = about.differences.filter(hasSides);
  if (!differences.length) return null;
  return (
    <table class="jxs-co-differences">
      <thead>
        <tr>
          <th scope="col">what differs</th>
          <th scope="col">before{about.nearest && ` (#${about.nearest.number})`}</th>
          <th scope="col">now</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ kind, what, before, now }, i) => (
          <tr key={i}>
            <th scope="row">
              {what && <code class="jxs-anywhere">{what}</code>} <span class="jxs-dim">{kind}</span>
            </th>
            <td class="jxs-anywhere">{before || "–"}</td>
            <td class="jxs-anywhere">{now || "–"}</td>
          </tr>
        ))}
      </tbody>
      {about.moreDifferences > 0 && <caption>and {counted(about.moreDifferences)} more</caption>}
    </table>
  );
}

function ToDo({ about }: { about: CompileAbout }) {
  const selection = useSelection();
  if (!about.advice && !about.code) return null;
  return (
    <div class="jxs-co-advice">
      {about.advice && <p class="jxs-anywhere"><Said text={about.advice} /></p>}
      {about.code && (
        <div class="jxs-co-code">
          <pre tabIndex={0}>{about.code}</pre>
          <IconButton icon="copy" label="Copy the code" onClick={() => void copy(selection, "the code", Promise.resolve(about.code))} />
        </div>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const placeWords = ({ text, function: name }: Place): string => `${text}${name && ` in ${name}`}`;

function Inside({ about, onPick }: { about: CompileAbout } & Pick<Props, "onPick">) {
  return (
    <>
      {about.inside.map((number) => (
        <span key={number}>
          <LinkButton text={`#${number}`} onClick={() => onPick(number)} />{" "}
        </span>
      ))}
      {about.moreInside > 0 && `and ${counted(about.moreInside)} more`}
    </>
  );
}

/** How the key differs from that of the nearest recorded entry. */
function Missed({ persistent: { missed, diff } }: { persistent: Persistent }) {
  return (
    <>
      {missed.map((words) => (
        <div key={words}>{words}</div>
      ))}
      {diff.length > 0 && (
        <details>
          <summary>StableHLO, before and now</summary>
          <pre>{diff.join("\n")}</pre>
        </details>
      )}
    </>
  );
}

function Facts({ about, onPick }: { about: CompileAbout } & Pick<Props, "onPick">) {
  const { callSite, userLine, persistent } = about;
  const isSame = callSite && userLine && callSite.text === userLine.text;
  return (
    <dl class="jxs-facts-list jxs-co-facts">
      {about.stages.map((stage) => (
        <Fact name={stage.name} key={stage.name}>
          {stageWords(stage)}
        </Fact>
      ))}
      {about.caches.length > 0 && <Fact name="spared by">{about.caches.join(", ")}</Fact>}
      <Fact name="persistent cache">{persistent ? persistentWords(persistent) : "not asked"}</Fact>
      {persistent?.folder && <Fact name="key">{persistent.key}</Fact>}
      {persistent?.folder && <Fact name="folder">{persistent.folder}</Fact>}
      {persistent && persistent.missed.length > 0 && (
        <Fact name="nearest entry">
          <Missed persistent={persistent} />
        </Fact>
      )}
      {userLine && <Fact name="your line">{placeWords(userLine)}</Fact>}
      {callSite && !isSame && <Fact name="called from">{placeWords(callSite)}</Fact>}
      <Fact name="came from">
        {about.entry}
        {about.asker === "user" ? "" : `, by ${about.asker}`}
      </Fact>
      {about.parent !== null && (
        <Fact name="ran during">
          <LinkButton text={`#${about.parent}`} onClick={() => onPick(about.parent as number)} />
        </Fact>
      )}
      {about.inside.length > 0 && (
        <Fact name="compiled meanwhile">
          <Inside about={about} onPick={onPick} />
        </Fact>
      )}
      {about.options.length > 0 && <Fact name="compiler options">{about.options.map(([name, value]) => `${name}=${value}`).join(", ")}</Fact>}
      {about.signature && <Fact name="signature">{about.signature}</Fact>}
    </dl>
  );
}

function Head({ about, onPick }: { about: CompileAbout } & Pick<Props, "onPick">) {
  return (
    <div class="jxs-co-title">
      <p class="jxs-anywhere">
        <b>
          #{about.number} <code>{about.function}</code>
        </b>{" "}
        {about.failed ? <span class="jxs-co-failed">failed: {about.failed}</span> : <span class="jxs-dim">{about.outcome}</span>}
      </p>
      <p class="jxs-co-why jxs-anywhere">{about.why || about.reason}</p>
      {about.nearest && (
        <p class="jxs-dim">
          compared with <LinkButton text={`#${about.nearest.number}`} onClick={() => onPick(about.nearest?.number ?? -1)} />
          {about.nearest.line && `, ${about.nearest.line}`}
        </p>
      )}
    </div>
  );
}

function About({ about, onPick, onCompare }: { about: CompileAbout } & Omit<Props, "number">) {
  const questions = useQuestions();
  return (
    <>
      <Head about={about} onPick={onPick} />
      <Differences about={about} />
      <ToDo about={about} />
      {!questions.isSaved && <OpenButtons about={about} onCompare={onCompare} />}
      <Facts about={about} onPick={onPick} />
    </>
  );
}

/** What the list itself says of a record, where a saved notebook has no more of it. */
function Listed({ compiles, causes, causeRow, number }: ListedProps) {
  const row = compiles.number.indexOf(number);
  const of = causeRow[row] ?? -1;
  return (
    <div class="jxs-co-title">
      <p class="jxs-anywhere">
        <b>
          #{number} <code>{textIn(compiles.function, row)}</code>
        </b>{" "}
        <span class="jxs-dim">{textIn(compiles.outcome, row)}</span>
      </p>
      {causes && <p class="jxs-co-why jxs-anywhere">{textIn(causes.why, of)}</p>}
      {causes && <p class="jxs-dim jxs-anywhere">{textIn(causes.signature, of)}</p>}
    </div>
  );
}

interface ListedProps {
  compiles: Compiles;
  causes: Causes | null;
  causeRow: Int32Array;
  number: number;
}

/** Why a record came about, and what to do. */
export function Detail({ onPick, onCompare, ...listed }: Props & ListedProps) {
  const question = useQuestion("compile_record", { number: listed.number }, readRecord);
  return (
    <section class="jxs-co-detail" aria-label={`compile ${listed.number}`}>
      {question.value ? (
        <About about={question.value} onPick={onPick} onCompare={onCompare} />
      ) : (
        <>
          <Listed {...listed} />
          <Waiting question={question} what="Reading the record" />
        </>
      )}
    </section>
  );
}
