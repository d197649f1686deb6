import { useDoc, useDocuments, useKeptState, useQuestions, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";
import { rowOfLine } from "../../model/sourceLines";
import { byName } from "../../wire/check";
import { percent } from "../../wire/figures";
import type { Documents } from "../../model/documents";
import type { Place } from "../../model/place";
import { Change } from "./change";
import { type Finding, OUTCOMES } from "./read";
import { Tried, Trying } from "./trial";

const TABS = byName<string>({ cost: "Cost", memory: "Memory", shardings: "Shardings", collectives: "Collectives", dtypes: "Dtypes", layouts: "Layouts", effects: "Effects", passes: "Passes", machine: "Machine code", timeline: "Timeline" });
const PAYS = "pays";
/** A trial that cannot tell contradicts nothing. */
const UNKNOWN = "unknown";
const CERTAINTIES = byName<string>({
  counted: "what is so and what it costs stand in the program",
  inferred: "the line or the cause is concluded from what surrounds it",
  estimated: "what the change saves depends on the compiler or on the run; trying it tells",
});

/** Where a finding is: its source line, else its first row of a document. */
export function placeOf(documents: Documents, { line, rows }: Finding): Place | null {
  const source = line ? rowOfLine(documents, line) : -1;
  if (source >= 0) return { doc: "python", row: source };
  const found = rows.find(([, all]) => all.length);
  return found ? { doc: found[0], row: found[1][0] as number } : null;
}

interface Props {
  finding: Finding;
  /** Counts from 1. */
  rank: number;
  isOpen: boolean;
  /** Tab leads to one finding, arrows to the others. */
  isStop: boolean;
  onPick: () => void;
  onTried: () => void;
}

/** What there is to gain; once it was tried, what is gained. */
function Stake({ share, stake, trial }: Pick<Finding, "share" | "stake" | "trial">) {
  if (trial) {
    return (
      <span class="jxs-finding-stake" data-outcome={trial.outcome}>
        <b class="jxs-anywhere">
          <span aria-hidden="true">{OUTCOMES[trial.outcome] ?? "?"}</span> <Said text={trial.text} />
        </b>
        {trial.outcome === UNKNOWN ? (
          <span class="jxs-dim jxs-cut">{stake}</span>
        ) : (
          <s class="jxs-dim jxs-cut">{trial.outcome !== PAYS && stake}</s>
        )}
      </span>
    );
  }
  return (
    <span class="jxs-finding-stake">
      {share !== null && (
        <span class="jxs-meter jxs-finding-share" role="img" aria-label={percent(share, 1)}>
          <i style={{ width: `${100 * Math.min(1, share)}%` }} />
        </span>
      )}
      <b class="jxs-anywhere">{stake}</b>
    </span>
  );
}

/** What is to be done about a finding. */
function Body({ finding, onTried }: Pick<Props, "finding" | "onTried">) {
  const selection = useSelection();
  const documents = useDocuments();
  const { isSaved } = useQuestions();
  const [isTried, tryIt] = useKeptState(`try ${selection.call} ${finding.key}`, false);
  const { change, caveat, certainty, more, tab, trial } = finding;
  const place = placeOf(documents, finding);
  const title = selection.summary?.views.includes(tab) ? TABS[tab] : undefined;
  const canTry = finding.canTry && !trial && !isSaved;
  const tried = () => {
    tryIt(false);
    onTried();
  };
  return (
    <div class="jxs-finding-body">
      {change && <Change change={change} />}
      {caveat && (
        <p class="jxs-finding-caveat jxs-anywhere">
          <Said text={caveat} />
        </p>
      )}
      {trial && <Tried trial={trial} />}
      <div class="jxs-strip">
        {canTry && !isTried && (
          <button type="button" class="jxs-button jxs-boxed jxs-try" title="Compiles the program with the change and compares; runs nothing" onClick={() => tryIt(true)}>
            Try it
          </button>
        )}
        {place && (
          <button type="button" class="jxs-button jxs-boxed" onClick={() => selection.show(place.doc, place.row)}>
            Show in the code
          </button>
        )}
        {title && (
          <button type="button" class="jxs-button jxs-boxed" onClick={() => selection.set({ view: tab })}>
            Open {title}
          </button>
        )}
        {more && (
          <a class="jxs-link" href={more} target="_blank" rel="noopener noreferrer">
            Read more
          </a>
        )}
        <span class="jxs-grow" />
        {certainty && !trial && (
          <span class="jxs-dim" title={CERTAINTIES[certainty]}>
            {certainty}
          </span>
        )}
      </div>
      {canTry && isTried && <Trying finding={finding} onTried={tried} />}
    </div>
  );
}

/** One finding: in a sentence what is so and what there is to gain; the open one with what to do. */
export function FindingItem({ finding, rank, isOpen, isStop, onPick, onTried }: Props) {
  const documents = useDocuments();
  const python = documents.doc("python");
  useDoc(python);
  const source = finding.line ? rowOfLine(documents, finding.line) : -1;
  const code = source >= 0 ? (python?.text?.line(source) ?? "").trim() : "";
  const { kind, line, share, stake, text, trial } = finding;
  return (
    <li class={isOpen ? "jxs-finding jxs-current" : "jxs-finding"} data-kind={kind}>
      <button type="button" class="jxs-finding-head" aria-expanded={isOpen} tabIndex={isStop ? 0 : -1} onClick={onPick}>
        <span class="jxs-finding-rank" aria-hidden="true">
          {rank}
        </span>
        <span class="jxs-finding-said">
          <span class="jxs-finding-text jxs-anywhere">
            <Said text={text} />
          </span>
          <Stake share={share} stake={stake} trial={trial} />
          <span class="jxs-finding-place">
            <span class="jxs-badge">{kind}</span>
            {line && <span class="jxs-finding-line">{line}</span>}
            {code && <code class="jxs-cut">{code}</code>}
          </span>
        </span>
      </button>
      {isOpen && <Body finding={finding} onTried={onTried} />}
    </li>
  );
}
