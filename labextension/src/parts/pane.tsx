import { counted } from "../wire/figures";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyAll, foldAll } from "../model/actions";
import type { Doc } from "../model/document";
import { STRONG, classOf } from "../model/links";
import type { Session } from "../model/session";
import { CodePane } from "./codePane";
import { useDoc, useShared } from "./hooks";
import { IconButton } from "./icons";
import { attachClicks, attachKeys } from "./keys";
import { SearchBar } from "./searchBar";

function useCodePane(doc: Doc, session: Session) {
  const body = useRef<HTMLDivElement>(null);
  const [pane, setPane] = useState<CodePane | null>(null);
  useLayoutEffect(() => {
    if (!body.current) return undefined;
    const made = new CodePane(doc, session);
    attachKeys(made);
    attachClicks(made);
    made.mount(body.current);
    setPane(made);
    return () => made.unmount();
  }, [doc, session]);
  return { body, pane };
}

function Counterparts({ doc, session, pane }: { doc: Doc; session: Session; pane: CodePane | null }) {
  useShared(session, (s) => s.selected);
  const found = session.litRowsOf(doc);
  const [first] = found;
  if (first === undefined || !doc.rows) return null;
  const direct = classOf(session.lit(session.store.get().selected), doc.rows, first) === STRONG;
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

function Head({ doc, session, pane }: { doc: Doc; session: Session; pane: CodePane | null }) {
  const folded = doc.folds.anyFolded;
  const search = () => {
    doc.search = { ...doc.search, open: !doc.search.open };
    doc.changed();
  };
  return (
    <div class="jxs-pane-head">
      <h3>{doc.info.title}</h3>
      {doc.info.lines > 0 && <span class="jxs-dim jxs-lines">{`${counted(doc.info.lines)} ${doc.info.lines === 1 ? "line" : "lines"}`}</span>}
      <Counterparts doc={doc} session={session} pane={pane} />
      <span class="jxs-grow" />
      <IconButton icon="search" label="Search this pane (/)" pressed={doc.search.open} onClick={search} />
      <IconButton
        icon={folded ? "unfold" : "fold"}
        label={folded ? "Unfold all (F)" : "Fold all (F)"}
        onClick={() => foldAll(doc)}
      />
      <IconButton icon="copy" label="Copy this pane (Shift+C)" onClick={() => void copyAll(session, doc)} />
    </div>
  );
}

export function Pane({ doc, session, weight }: { doc: Doc; session: Session; weight: number }) {
  useDoc(doc);
  const { body, pane } = useCodePane(doc, session);
  const problem = doc.problem ?? doc.text?.problem ?? null;
  const retry = () => {
    if (doc.text?.problem) doc.text.retry();
    else session.load(doc);
  };
  return (
    <section
      class="jxs-pane jxs-column"
      data-doc={doc.kind}
      data-ready={doc.text && doc.rows ? "true" : "false"}
      aria-label={doc.info.title}
      style={{ flexGrow: weight, "--jxs-own-lines": String(doc.info.lines) }}
      onFocusIn={() => session.store.set({ active: doc.kind })}
    >
      <Head doc={doc} session={session} pane={pane} />
      {doc.search.open && <SearchBar doc={doc} pane={pane} />}
      {problem && <Trouble text={problem} onRetry={doc.isAbsent && !doc.text?.problem ? null : retry} />}
      <div class="jxs-pane-body" ref={body}>
        {!doc.text && !problem && <div class="jxs-loading">Loading…</div>}
      </div>
    </section>
  );
}
