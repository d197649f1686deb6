import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../wire/figures";
import { focusLanes } from "./laneKeys";
import type { EventPlace } from "./read";
import { type Hits, PAGE, firstFrom, nextHit, placeOf, readHits } from "./searchRead";
import { useKeptState, useQuestion, useSelection } from "../../parts/hooks";

interface SearchProps {
  /** The start of what is shown, in seconds. */
  from: () => number;
  onHits: (hits: Hits | null) => void;
  /** Shows a hit and selects it. */
  onGo: (place: EventPlace) => void;
}

const WAIT_MS = 200;

/** The text, once typing has paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), text ? WAIT_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

function Found({ query, from, onHits, onGo, step }: SearchProps & { query: string; step: { to: 1 | -1; count: number } }) {
  const [place, setPlace] = useState(-1);
  const page = Math.max(0, Math.floor(place / PAGE));
  const question = useQuestion("timeline search", { query, page }, readHits);
  const hits = question.value;
  const went = useRef(0);
  useEffect(() => onHits(hits), [hits]);
  useEffect(() => () => onHits(null), []);
  useEffect(() => {
    if (!hits || step.count === went.current) return;
    went.current = step.count;
    const first = place < 0 && step.to > 0 ? firstFrom(hits, from()) : -1;
    setPlace(first >= 0 ? first : nextHit(hits.total, place, step.to));
  }, [step.count, hits]);
  const at = hits && place >= 0 ? place - hits.first : -1;
  useEffect(() => {
    if (hits && at >= 0 && at < hits.events.length) onGo(placeOf(hits, at));
  }, [place, hits]);
  if (question.state === "failed") return <span role="alert">{question.problem}</span>;
  if (!hits) return <span class="jxs-dim">searching…</span>;
  if (!hits.total) return <span role="status">no hits in the whole trace</span>;
  return (
    <span class="jxs-tabular" role="status">
      {place >= 0 ? `${counted(place + 1)} of ` : ""}
      {counted(hits.total)} {hits.total === 1 ? "hit" : "hits"}
    </span>
  );
}

/** Finds in the whole trace: events by name, instruction, source line and scope. Enter goes to the next, Shift+Enter back. */
export function Search(props: SearchProps) {
  const selection = useSelection();
  const [query, change] = useKeptState(`timeline search ${selection.call}`, "");
  const [step, setStep] = useState<{ to: 1 | -1; count: number }>({ to: 1, count: 0 });
  const paused = usePaused(query.trim());
  const go = (to: 1 | -1) => setStep({ to, count: step.count + 1 });
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (query) change("");
    else focusLanes(event.target);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="jxs-tl-search" role="search">
      <input
        type="search"
        class="jxs-tl-search-box"
        spellcheck={false}
        maxLength={500}
        placeholder="Search the trace (/)"
        aria-label="Search the whole trace; Enter goes to the next hit, Shift+Enter to the one before"
        value={query}
        onInput={(event) => change((event.target as HTMLInputElement).value)}
        onKeyDown={key}
      />
      <button type="button" class="jxs-button jxs-boxed" disabled={!paused} title="Hit before (Shift+Enter)" aria-label="Hit before" onClick={() => go(-1)}>
        ‹
      </button>
      <button type="button" class="jxs-button jxs-boxed" disabled={!paused} title="Next hit (Enter)" aria-label="Next hit" onClick={() => go(1)}>
        ›
      </button>
      {paused && <Found key={paused} {...props} query={paused} step={step} />}
    </span>
  );
}

/** "/" anywhere in the tab, but in a box, goes to the search. */
export function focusSearch(event: KeyboardEvent): void {
  if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target as HTMLElement;
  if (target.matches("input, textarea, select, [contenteditable]")) return;
  const box = (event.currentTarget as HTMLElement).querySelector<HTMLInputElement>(".jxs-tl-search-box");
  if (!box) return;
  box.focus();
  box.select();
  event.preventDefault();
  event.stopPropagation();
}
