import { clock, duration, percent } from "../wire/figures";
import { byName } from "../wire/check";
import type { Coverage, DocumentInfo, Fact, Stage, StageFailure, Summary } from "../wire/state";
import { LinkButton } from "../parts/buttons";
import { useDocuments, useKeptState, usePanel, useQuestion, useQuestions, useSelection } from "../parts/hooks";
import { IconButton } from "../parts/icons";
import { useElapsed } from "../parts/waiting";
import { STAGE_MARKS, stateClass } from "../parts/stageMarks";
import { Warnings } from "./warnings";
import { WorkerLog } from "../parts/workerLog";
import type { Reply } from "../wire/source";
import { Said, unquoted } from "../parts/said";

/** Seconds after which a compile takes long. */
const LONG = 5;

interface Wait {
  text: string;
  canStop: boolean;
}

function read({ result }: Reply): Wait {
  return { text: typeof result.text === "string" ? result.text : "", canStop: result.can_stop === true };
}

/** Of a compile that takes long: where it runs, what stops it, and the button where something does. */
function LongCompile({ stage }: { stage: Stage }) {
  const panel = usePanel();
  return useElapsed(panel.since(stage), true) < LONG ? null : <Offer />;
}

function Offer() {
  const questions = useQuestions();
  const wait = useQuestion("compile wait", {}, read).value;
  if (!wait?.text) return null;
  const cancel = () => void questions.request("stop compile").catch(() => undefined);
  return (
    <div class="jxs-note jxs-long-compile" role="status">
      <span class="jxs-anywhere"><Said text={wait.text} /></span>
      {wait.canStop && (
        <button type="button" class="jxs-button jxs-boxed" onClick={cancel}>
          Cancel
        </button>
      )}
    </div>
  );
}

/** The time that a stage has taken so far, by the clock of this page. */
function Ticking({ since }: { since: number }) {
  return <>running… {clock(useElapsed(since, true))}</>;
}

/** `since` is null where nobody knows whether the stage still runs. */
function StageView({ stage, since }: { stage: Stage; since: number | null }) {
  const time = stage.seconds === null ? "" : duration(stage.seconds);
  const running = since === null ? "not finished; the kernel does not answer" : <Ticking since={since} />;
  const said = stage.state === "running" ? running : (stage.state === "done" && time) || stage.state;
  return (
    <div role="listitem" class={`jxs-stage jxs-tabular jxs-stage-${stateClass(stage.state)}`} data-stage={stage.name} data-state={stage.state}>
      <span class="jxs-stage-mark" aria-hidden="true">
        {STAGE_MARKS[stage.state]}
      </span>
      <span class="jxs-stage-name">{stage.name}</span>
      <span class="jxs-stage-time">{said}</span>
      {stage.count && <span class="jxs-stage-count">{stage.count}</span>}
      {stage.note && <span class="jxs-stage-note">{stage.note}</span>}
    </div>
  );
}

function FactView({ fact }: { fact: Fact }) {
  const unknown = fact.isUnknown ? " jxs-unknown" : "";
  const more = [fact.reason, fact.note].filter(Boolean).join("\n");
  return (
    <div role="listitem" data-fact={fact.label} class={`jxs-fact${more ? " jxs-explained" : ""}${unknown}`} title={unquoted(more) || undefined}>
      <span class="jxs-label">{fact.label}</span>
      <span class="jxs-value jxs-tabular">
        {fact.text}
        {fact.reason && <span class="jxs-hidden">: {fact.reason}</span>}
      </span>
    </div>
  );
}

/** What is linked to source lines: operations of the last stage. */
const OPERATIONS = byName<string>({ jaxpr: "equations", stablehlo: "ops" });

function Linked({ coverage, documents }: { coverage: Coverage; documents: DocumentInfo[] }) {
  const { direct, library, inferred, total } = coverage;
  if (!total) return null;
  const operations = OPERATIONS[documents.at(-1)?.kind ?? ""] ?? "instructions";
  const ofLibrary = library > 0 ? `; ${library} a line of a library` : "";
  const detail = `${direct} of ${total} ${operations} have a source line of yours${ofLibrary}; ${inferred} inferred from operands and users`;
  return (
    <div role="listitem" class="jxs-fact jxs-linked" title={detail}>
      <span class="jxs-label">{operations} linked</span>
      <span class="jxs-value jxs-tabular">
        {percent(direct + library + inferred, total)}
        <span class="jxs-meter" aria-hidden="true">
          <i style={{ width: `${(100 * direct) / total}%` }} />
          <u style={{ width: `${(100 * library) / total}%` }} />
          <b style={{ width: `${(100 * inferred) / total}%` }} />
        </span>
        <span class="jxs-dim">
          {percent(direct, total)} direct{library > 0 && `, ${percent(library, total)} library`}
          {inferred > 0 && `, ${percent(inferred, total)} inferred`}
        </span>
      </span>
    </div>
  );
}

interface FailureProps {
  error: StageFailure;
  onShow: (() => void) | null;
}

function Failure({ error, onShow }: FailureProps) {
  const place = error.line === null ? "" : `${error.label ?? error.file ?? ""}:${error.line}`;
  return (
    <div class="jxs-failure" role="alert">
      <div class="jxs-failure-head">
        <b>{error.interrupted ? `${error.stage} interrupted` : `${error.stage} failed`}</b>
        {error.type && <code>{error.type}</code>}
        {place && (onShow ? <LinkButton text={place} onClick={onShow} /> : <span>{place}</span>)}
      </div>
      {error.explanation && <p class="jxs-failure-told jxs-anywhere"><Said text={error.explanation} /></p>}
      {error.message && <pre tabIndex={0}>{error.message}</pre>}
      {error.hasLog && <WorkerLog />}
    </div>
  );
}

function Options({ options }: { options: Summary["options"] }) {
  return (
    <div class="jxs-options" role="list" aria-label="compile options">
      {options.map(([name, value]) => (
        <code role="listitem" class="jxs-option jxs-cut" title={`${name}=${value}`} key={name}>
          {name}={value}
        </code>
      ))}
    </div>
  );
}

function Picker({ calls }: { calls: Summary[] }) {
  const selection = useSelection();
  return (
    <select
      class="jxs-picker"
      aria-label="call"
      value={selection.call}
      onChange={(e) => selection.pickCall(Number((e.target as HTMLSelectElement).value))}
    >
      {calls.map((call, i) => (
        <option value={i} key={i}>
          {call.name}
          {calls.filter((c) => c.name === call.name).length > 1 ? ` (${i + 1})` : ""}
          {call.error ? " ✕" : ""}
        </option>
      ))}
    </select>
  );
}

export function Header() {
  const documents = useDocuments();
  const selection = useSelection();
  const panel = usePanel();
  const { calls, busy } = panel.state;
  const summary = selection.summary;
  const [whole, showWhole] = useKeptState("whole header", false);
  if (!summary) return <header class="jxs-header jxs-empty">{busy ? "Starting…" : "Nothing has been staged."}</header>;
  const compiling = summary.stages.find(({ name, state }) => name === "compile" && state === "running");
  const { notes } = summary;
  const shown = whole ? notes.length : summary.urgent || (summary.finding ? 0 : 1);
  const more = notes.length - shown;
  const show = () => {
    const row = documents.errorRow();
    if (row >= 0) selection.select("python", row, "");
  };
  return (
    <header class={whole ? "jxs-header" : "jxs-header jxs-short"}>
      <div class="jxs-top">
        <code class="jxs-signature" title={summary.signature}>
          {summary.signature || summary.name}
        </code>
        {selection.call > 0 && calls[0]?.open === "compiles" && (
          <button type="button" class="jxs-button jxs-boxed" onClick={() => selection.pickCall(0)}>
            ‹ Compiles
          </button>
        )}
        {calls.length > 1 && <Picker calls={calls} />}
        <span class="jxs-target">{summary.target}</span>
        {more > 0 && <LinkButton text={`${more} ${shown ? "more " : ""}${more > 1 ? "notes" : "note"}`} onClick={() => showWhole(true)} />}
        <IconButton icon={whole ? "fold" : "unfold"} label="Whole header" pressed={whole} onClick={() => showWhole(!whole)} />
      </div>
      {summary.finding && (
        <button type="button" class="jxs-head-finding" title={unquoted(summary.finding)} onClick={() => selection.set({ view: "findings" })}>
          <Said text={summary.finding} />
        </button>
      )}
      <div class="jxs-figures">
        <div class="jxs-stages" role="list" aria-label="stages">
          {summary.stages.map((stage) => (
            <StageView stage={stage} since={panel.isOrphaned ? null : panel.since(stage)} key={stage.name} />
          ))}
        </div>
        <div class="jxs-facts" role="list" aria-label="facts">
          {summary.facts.map((fact) => (
            <FactView fact={fact} key={fact.label} />
          ))}
          <Warnings />
          {summary.coverage && <Linked {...summary} coverage={summary.coverage} />}
        </div>
      </div>
      {compiling && !panel.isOrphaned && <LongCompile stage={compiling} key={selection.call} />}
      {summary.options.length > 0 && <Options options={summary.options} />}
      {summary.error && (
        <Failure
          error={summary.error}
          onShow={summary.error.line === null ? null : show}
          key={selection.call}
        />
      )}
      <div class="jxs-head-notes">
        {notes.slice(0, shown).map((note, at) => (
          <p class={at < summary.urgent ? "jxs-note jxs-caution" : "jxs-note"} title={whole ? undefined : unquoted(note)} key={note}>
            <Said text={note} />
          </p>
        ))}
      </div>
    </header>
  );
}
