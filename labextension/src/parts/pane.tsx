import { counted } from "../wire/figures";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyAll, foldAll } from "../model/actions";
import type { Doc } from "../model/document";
import { STRONG, classOf } from "../model/links";
import { CodePane } from "./codePane";
import { useDoc, useDocuments, usePanel, useSelected, useSelection } from "./hooks";
import { IconButton } from "./icons";
import { attachClicks, attachKeys } from "./keys";
import { SearchBar } from "./searchBar";

function useCodePane(doc: Doc) {
  const documents = useDocuments();
  const selection = useSelection();
  const panel = usePanel();
  const body = useRef<HTMLDivElement>(null);
  const [pane, setPane] = useState<CodePane | null>(null);
  useLayoutEffect(() => {
    if (!body.current) return undefined;
    const made = new CodePane(doc, documents, selection, panel);
    attachKeys(made);
    attachClicks(made);
    made.mount(body.current);
    setPane(made);
    return () => made.unmount();
  }, [doc, documents]);
  return { body, pane };
}

function Counterparts({ doc, pane }: { doc: Doc; pane: CodePane | null }) {
  const documents = useDocuments();
  const selection = useSelection();
  useSelected((s) => s.selected);
  const found = documents.litRowsOf(doc);
  const [first] = found;
  if (first === undefined || !doc.rows) return null;
  const direct = classOf(documents.lit(selection.get().selected), doc.rows, first) === STRONG;
  const title = direct ? "from the same expression" : "from the same line, or from functions it calls";
  return (
    <span class="jxs-counterparts">
      <span title={title}>
        {counted(found.length)} {direct ? "linked" : "related"}
      </span>
      <IconButton icon="up" label="Previous linked line (p)" onClick={() => pane?.revealLit(-1)} />
      <IconButton icon="down" label="Next linked line (n)" onClick={() => pane?.revealLit(1)} />
    </span>
  );
}

/** `onRetry` is null where trying again is of no use. */
function Trouble({ text, onRetry }: { text: string; onRetry: (() => void) | null }) {
  if (!onRetry) return <p class="jxs-note jxs-not-saved" role="status">{text}</p>;
  return (
    <div class="jxs-trouble" role="alert">
      <span>{text}</span>
      <button type="button" class="jxs-button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

function Head({ doc, pane }: { doc: Doc; pane: CodePane | null }) {
  const selection = useSelection();
  const folded = doc.folds.anyFolded;
  const search = () => {
    doc.search = { ...doc.search, open: !doc.search.open };
    doc.changed();
  };
  return (
    <div class="jxs-pane-head">
      <h3>{doc.info.title}</h3>
      {doc.info.lines > 0 && <span class="jxs-dim jxs-lines">{`${counted(doc.info.lines)} ${doc.info.lines === 1 ? "line" : "lines"}`}</span>}
      <Counterparts doc={doc} pane={pane} />
      <span class="jxs-grow" />
      <IconButton icon="search" label="Search this pane (/)" pressed={doc.search.open} onClick={search} />
      <IconButton
        icon={folded ? "unfold" : "fold"}
        label={folded ? "Unfold all (F)" : "Fold all (F)"}
        onClick={() => foldAll(doc)}
      />
      <IconButton icon="copy" label="Copy this pane (Shift+C)" onClick={() => void copyAll(selection, doc)} />
    </div>
  );
}

export function Pane({ doc, weight }: { doc: Doc; weight: number }) {
  const documents = useDocuments();
  const selection = useSelection();
  useDoc(doc);
  const { body, pane } = useCodePane(doc);
  const problem = doc.problem ?? doc.text?.problem ?? null;
  const retry = () => {
    if (doc.text?.problem) doc.text.retry();
    else documents.load(doc);
  };
  return (
    <section
      class="jxs-pane jxs-column"
      data-doc={doc.kind}
      data-ready={doc.text && doc.rows ? "true" : "false"}
      aria-label={doc.info.title}
      style={{ flexGrow: weight, "--jxs-own-lines": String(doc.info.lines) }}
      onFocusIn={() => selection.set({ active: doc.kind })}
    >
      <Head doc={doc} pane={pane} />
      {doc.search.open && <SearchBar doc={doc} pane={pane} />}
      {problem && <Trouble text={problem} onRetry={doc.isAbsent && !doc.text?.problem ? null : retry} />}
      <div class="jxs-pane-body" ref={body}>
        {!doc.text && !problem && <div class="jxs-loading">Loading…</div>}
      </div>
    </section>
  );
}
