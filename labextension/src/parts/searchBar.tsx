import { counted } from "../wire/figures";
import { useEffect, useRef } from "preact/hooks";
import { runSearch, stepHit } from "../model/actions";
import type { Doc } from "../model/document";
import type { CodePane } from "./codePane";
import { IconButton } from "./icons";

function count(doc: Doc): string {
  const { hits, at, query } = doc.search;
  if (!query) return "";
  if (!hits) return "searching…";
  if (!hits.total) return "no hits";
  const place = at < 0 ? "" : `${counted(at + 1)} / `;
  return `${place}${counted(hits.total)}`;
}

function showHit(doc: Doc, pane: CodePane | null): void {
  const row = doc.search.hits?.rows[doc.search.at];
  if (row === undefined) return;
  pane?.moveTo(row, "center");
  pane?.revealHit();
}

export function SearchBar({ doc, pane }: { doc: Doc; pane: CodePane | null }) {
  const input = useRef<HTMLInputElement>(null);
  const { query, matchCase } = doc.search;
  const run = (text: string, exact: boolean) => void runSearch(doc, text, exact).then(() => showHit(doc, pane));
  const step = (by: 1 | -1) => {
    stepHit(doc, by);
    showHit(doc, pane);
  };
  const close = () => {
    doc.search = { ...doc.search, open: false };
    doc.changed();
    pane?.list.focus({ preventScroll: true });
  };
  useEffect(() => {
    input.current?.focus({ preventScroll: true });
    input.current?.select();
    void doc.text?.search("", matchCase);
  }, []);
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="jxs-search" role="search">
      <input
        ref={input}
        type="text"
        spellcheck={false}
        placeholder={`Search ${doc.info.title}`}
        aria-label={`Search ${doc.info.title}`}
        value={query}
        onInput={(e) => run((e.target as HTMLInputElement).value, matchCase)}
        onKeyDown={key}
      />
      <span class="jxs-hits jxs-tabular" aria-live="polite">
        {count(doc)}
      </span>
      <button
        type="button"
        class="jxs-button jxs-case"
        title="Match case"
        aria-label="Match case"
        aria-pressed={matchCase}
        onClick={() => run(query, !matchCase)}
      >
        Aa
      </button>
      <IconButton icon="up" label="Previous hit (Shift+Enter)" onClick={() => step(-1)} />
      <IconButton icon="down" label="Next hit (Enter)" onClick={() => step(1)} />
      <IconButton icon="close" label="Close search (Esc)" onClick={close} />
    </div>
  );
}

export function openSearch(doc: Doc | null, root: HTMLElement): void {
  if (!doc?.text) return;
  doc.search = { ...doc.search, open: true };
  doc.changed();
  const input = root.querySelector<HTMLInputElement>(`[data-doc="${doc.kind}"] .jxs-search input`);
  input?.focus({ preventScroll: true });
  input?.select();
}
