import { useDocuments, useKeptState, useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { useLast } from "../../parts/useLast";
import { Waiting } from "../../parts/waiting";
import { counted, duration } from "../../wire/figures";
import { FindingItem, placeOf } from "./finding";
import { type Finding, type Findings, readFindings } from "./read";

/** More than these are shown when somebody asks. */
const MOST_SHOWN = 7;
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** Arrows go from finding to finding. */
function move(event: KeyboardEvent): void {
  const heads = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".jxs-finding-head")];
  const [at, step] = [heads.indexOf(event.target as HTMLElement), STEPS[event.key]];
  if (!step || at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  heads[Math.max(0, Math.min(at + step, heads.length - 1))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

const kinds = (names: string[]): string => `${counted(names.length)} ${names.length === 1 ? "kind" : "kinds"}`;

function Looked({ names, isNothing }: { names: string[]; isNothing: boolean }) {
  if (!names.length) return isNothing ? <p class="jxs-note">Nothing was looked for.</p> : null;
  return (
    <details class="jxs-looked" open={isNothing}>
      <summary>{isNothing ? `Nothing found among ${kinds(names)} looked for` : `${kinds(names)} looked for`}</summary>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}

/** The kinds that take a compile, and what looking for them takes. */
function NotLooked({ found, onLook }: { found: Findings; onLook: (() => void) | null }) {
  const { waiting, seconds } = found;
  if (!waiting.length) return null;
  return (
    <div class="jxs-not-looked">
      <span class="jxs-anywhere">Not looked for yet: {waiting.join(", ")}.</span>
      {onLook && (
        <button type="button" class="jxs-button jxs-boxed" title="These take a compile of their own; nothing is run" onClick={onLook}>
          Look for {waiting.length === 1 ? "it" : "them"}
          {seconds !== null && `, up to about ${duration(seconds)}`}
        </button>
      )}
    </div>
  );
}

interface ListProps {
  findings: Finding[];
  onTried: () => void;
}

function List({ findings, onTried }: ListProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const [isWhole, showAll] = useKeptState(`findings whole ${selection.call}`, false);
  const [open, setOpen] = useKeptState(`finding ${selection.call}`, findings[0]?.key ?? "");
  const shown = isWhole ? findings : findings.slice(0, MOST_SHOWN);
  const stop = shown.some(({ key }) => key === open) ? open : shown[0]?.key;
  const pick = (finding: Finding) => {
    const place = placeOf(documents, finding);
    if (place) selection.select(place.doc, place.row, "findings");
    setOpen(open === finding.key && !place ? "" : finding.key);
  };
  return (
    <>
      <ol class="jxs-finding-list" aria-label="findings, the most to gain first" onKeyDown={move}>
        {shown.map((finding, at) => (
          <FindingItem
            finding={finding}
            rank={at + 1}
            isOpen={finding.key === open}
            isStop={finding.key === stop}
            onPick={() => pick(finding)}
            onTried={onTried}
            key={finding.key}
          />
        ))}
      </ol>
      {findings.length > shown.length && (
        <button type="button" class="jxs-button jxs-boxed jxs-findings-more" onClick={() => showAll(true)}>
          Show all {counted(findings.length)}
        </button>
      )}
    </>
  );
}

/** What to change, the most to gain first; and what was looked for. */
export default function FindingsView() {
  const selection = useSelection();
  const { isSaved } = useQuestions();
  const [isAll, lookForAll] = useKeptState(`findings all ${selection.call}`, false);
  const question = useQuestion<Findings>("findings", { all: isAll }, readFindings);
  const found = useLast(question);
  if (!found) return <Waiting question={question} what="Looking for what to change" />;
  const { findings, looked, failures } = found;
  const isLooking = question.value === null;
  return (
    <div class="jxs-findings">
      {findings.length > 0 && <List findings={findings} onTried={question.askAgain} />}
      {isLooking && <Waiting question={question} what={isAll ? "Looking for what takes a compile" : "Looking"} />}
      {!isLooking && <NotLooked found={found} onLook={isSaved ? null : () => lookForAll(true)} />}
      <Looked names={looked} isNothing={!findings.length} />
      {failures.map((failure) => (
        <p class="jxs-note" key={failure}>
          {failure}
        </p>
      ))}
    </div>
  );
}
