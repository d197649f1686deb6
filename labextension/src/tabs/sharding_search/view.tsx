import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeptState, useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";
import { useLast } from "../../parts/useLast";
import { Waiting } from "../../parts/waiting";
import { counted } from "../../wire/figures";
import { BestList } from "./bestList";
import { Detail } from "./detail";
import { Legend } from "./legend";
import { MapView } from "./mapView";
import { type Asked, type Found, type Search, readSearch } from "./read";
import { SearchForm } from "./searchForm";

/** Of a search of more, the fastest, and those that matter for other reasons. */
const MOST_FIRST = 2000;
const MOST = 50_000;

/** The search under way; stopping it keeps what it found. */
function Running({ asked, onEnd }: { asked: Asked; onEnd: () => void }) {
  const question = useQuestion("sharding_search_run", { ...asked }, ({ result }) => ({ tried: result.tried }));
  useEffect(() => {
    if (question.value || question.state === "stopped") onEnd();
  }, [question.value, question.state]);
  return question.value || question.state === "stopped" ? null : <Waiting question={question} what="Searching" />;
}

function Head({ found }: { found: Found }) {
  return (
    <div class="jxs-ss-head">
      <p class="jxs-headline jxs-anywhere">
        <Said text={found.headline} />
      </p>
      {found.said && (
        <p class="jxs-anywhere">
          <Said text={found.said} />
        </p>
      )}
      {found.notes.length > 0 && (
        <details class="jxs-dim">
          <summary>{counted(found.notes.length)} {found.notes.length === 1 ? "note" : "notes"} on the search</summary>
          {found.notes.map((note) => (
            <p class="jxs-anywhere" key={note}>
              <Said text={note} />
            </p>
          ))}
        </details>
      )}
    </div>
  );
}

interface ShownProps {
  found: Found;
  onAll: (() => void) | null;
  onCompiled: () => void;
}

const IN_SIGHT_PX = 150;

/** Scrolls the tab alone, as far as the head of what was chosen is in sight. */
function reveal(detail: HTMLElement): void {
  const tab = detail.closest(".jxs-ss");
  if (tab) tab.scrollTop += Math.max(0, detail.getBoundingClientRect().top + IN_SIGHT_PX - tab.getBoundingClientRect().bottom);
}

function Shown({ found, onAll, onCompiled }: ShownProps) {
  const { layouts, best, tried } = found;
  const selection = useSelection();
  const [chosen, choose] = useKeptState(`layout ${selection.call}`, layouts.number[Math.max(best, 0)] ?? -1);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [opening, open] = useState(-1);
  const row = useMemo(() => layouts.number.indexOf(chosen), [layouts, chosen]);
  const detail = useRef<HTMLDivElement>(null);
  const pick = (at: number) => choose(layouts.number[at] ?? -1);
  const pickFromList = (at: number) => {
    pick(at);
    if (detail.current) reveal(detail.current);
  };
  const toggle = (kind: number) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  return (
    <div class="jxs-ss-body">
      <div class="jxs-ss-chart jxs-column">
        <MapView
          found={found}
          hidden={hidden}
          chosen={row}
          onChoose={pick}
          onOpen={(at) => {
            pick(at);
            open(layouts.number[at] ?? -1);
          }}
        />
        <Legend found={found} hidden={hidden} onToggle={toggle} />
        {onAll && tried > layouts.length && (
          <p class="jxs-dim jxs-ss-part">
            {counted(layouts.length)} of {counted(tried)} layouts are drawn: the fastest, the front, and what was compiled.{" "}
            <button type="button" class="jxs-link" onClick={onAll}>
              draw all
            </button>
          </p>
        )}
      </div>
      <div class="jxs-ss-side">
        <BestList found={found} chosen={row} onChoose={pickFromList} />
        <div ref={detail}>{chosen >= 0 && <Detail number={chosen} opening={opening} onOpening={open} onCompiled={onCompiled} key={chosen} />}</div>
      </div>
    </div>
  );
}

function Offered({ search, onSearch }: { search: Search; onSearch: (asked: Asked) => void }) {
  if (search.cannot) return <p class="jxs-note"><Said text={search.cannot} /></p>;
  return (
    <div class="jxs-ss-offer">
      <p class="jxs-headline">Which layout should this call have?</p>
      <p class="jxs-anywhere">
        <Said text={search.offer} />
      </p>
      <SearchForm usual={search.usual} button="Search the layouts" onSearch={onSearch} />
    </div>
  );
}

/** Which layout to take: every layout of the devices by time and memory, the best of each kind, and the user's own. */
export default function ShardingSearchView() {
  const selection = useSelection();
  const { isSaved } = useQuestions();
  const [most, setMost] = useKeptState(`layouts ${selection.call}`, MOST_FIRST);
  const [asked, ask] = useKeptState<Asked | null>(`layout search ${selection.call}`, null);
  const question = useQuestion("sharding_search", { most }, readSearch);
  const search = useLast(question);
  const ended = () => {
    ask(null);
    question.askAgain();
  };
  if (!search) return <Waiting question={question} what="Reading the search" />;
  const running = asked ?? (isSaved ? null : search.running);
  const { found } = search;
  return (
    <div class="jxs-ss">
      {found && <Head found={found} />}
      {running && <Running asked={running} onEnd={ended} />}
      {!found && !running && !isSaved && <Offered search={search} onSearch={ask} />}
      {!found && isSaved && <p class="jxs-note">The layouts of this call were not searched.</p>}
      {found && found.layouts.length > 0 && <Shown found={found} onAll={most < MOST && !isSaved ? () => setMost(MOST) : null} onCompiled={question.askAgain} />}
      {found && !running && !isSaved && (
        <div class="jxs-ss-again">
          <SearchForm usual={search.usual} button="Search again" onSearch={ask} />
        </div>
      )}
    </div>
  );
}
