import { showMachineCode } from "../model/actions";
import { colourStyle } from "../model/colours";
import { type Detail, type StackEntry, detailOf } from "../model/detail";
import type { Doc } from "../model/document";
import { argumentsOn, operationOn, plainOperation, readOperations } from "../model/operations";
import { useDoc, useDocuments, useLayout, useLayoutStore, useQuestion, useSelected, useSelection } from "./hooks";
import { LinkButton, Message } from "./buttons";
import { IconButton } from "./icons";
import { Said } from "./said";

interface FrameProps {
  entry: StackEntry;
}

/** A frame that can be gone to; of a library that has no pane yet, once its source is there. */
function Frame({ entry }: FrameProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const place = documents.sourcePlace(entry.file, entry.line);
  const text = `${entry.label}:${entry.line}`;
  const open = () => documents.countLibrary(entry.library);
  return (
    <>
      {place && <LinkButton text={text} onClick={() => selection.select(place.doc, place.row, "")} />}
      {!place && entry.library && <LinkButton text={text} onClick={open} />}
      {!place && !entry.library && <span>{text}</span>}
      <code>{entry.fn}</code>
    </>
  );
}

const kindOf = (entry: StackEntry): string => (entry.library ? "jxs-frame-library" : "jxs-frame-user");

function Stack({ entries }: { entries: StackEntry[] }) {
  return (
    <div class="jxs-stack" role="list" aria-label="call stack, innermost first">
      {entries.map((entry) => (
        <div role="listitem" class={kindOf(entry)} key={entry.frame}>
          <Frame entry={entry} />
        </div>
      ))}
    </div>
  );
}

/** The call stack in one row, from the user's line down to the library's. */
function Calls({ entries }: { entries: StackEntry[] }) {
  return (
    <div class="jxs-calls" role="list" aria-label="call stack, outermost first">
      {[...entries].reverse().map((entry) => (
        <span role="listitem" class={kindOf(entry)} key={entry.frame} title={`${entry.label}:${entry.line} ${entry.fn}`}>
          <Frame entry={{ ...entry, label: shortened(entry.label), fn: entry.fn.split(".").at(-1) ?? "" }} />
        </span>
      ))}
    </div>
  );
}

const shortened = (label: string): string => label.split(/[\\/]/).at(-1) ?? label;

/** What the operation of the line does that the pointer is on, or that is selected. */
function OperationHelp() {
  const documents = useDocuments();
  const hover = useSelected((s) => s.hover);
  const selected = useSelected((s) => s.selected);
  const { doc: kind, row } = hover ?? selected ?? { doc: "", row: -1 };
  const doc = documents.loaded(kind);
  const name = doc ? operationOn(doc, row) : "";
  return doc && name ? <Sentence doc={doc} name={name} row={row} key={kind} /> : null;
}

function Sentence({ doc, name, row }: { doc: Doc; name: string; row: number }) {
  doc.help = useQuestion("operations", { doc: doc.kind }, readOperations).value ?? doc.help;
  const sentence = doc.help.get(plainOperation(name));
  const given = argumentsOn(doc, row);
  return (
    <>
      {sentence !== undefined && (
        <span class="jxs-operation" title={sentence}>
          <code>{name}</code> {sentence}
        </span>
      )}
      {given && (
        <code class="jxs-scope" title={given}>
          {given}
        </code>
      )}
    </>
  );
}

function Words({ detail }: { detail: Detail }) {
  const selection = useSelection();
  const { source } = detail;
  return (
    <>
      {detail.hue !== null && <i class="jxs-swatch jxs-coloured" style={colourStyle(detail.hue)} />}
      {detail.gradient && <span class="jxs-badge jxs-badge-gradient">gradient of</span>}
      {source ? (
        <LinkButton text={detail.place} onClick={() => selection.select(source.doc, source.row, "")} />
      ) : (
        <span>{detail.place}</span>
      )}
      {detail.library && <span class="jxs-badge jxs-badge-library">library</span>}
      {!detail.known && <span class="jxs-dim">no source line known</span>}
      {detail.fn && <code class="jxs-fn">{detail.fn}</code>}
      {detail.inferredFrom !== null && (
        <span class="jxs-badge jxs-badge-inferred">
          {detail.inferredFrom > 0 ? `inferred from line ${detail.inferredFrom}` : "inferred"}
        </span>
      )}
      <OperationHelp />
      {detail.code && <code class="jxs-snippet">{detail.code}</code>}
      {detail.scope && (
        <code class="jxs-scope" title={detail.scope}>
          {detail.scope}
        </code>
      )}
      {detail.counts.length > 0 && (
        <span class="jxs-counts">
          {detail.counts.map(({ title, n }) => (
            <span key={title} class={n ? "" : "jxs-dim"}>
              {title} <b>{n}</b>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

/** Of the selected line all that stands beside it, which a pointer reads where it is. */
function Beside() {
  const selected = useSelected((s) => s.selected);
  const lane = useSelected((s) => s.lane);
  const warned = useSelected((s) => s.warned);
  if (!selected) return null;
  const [warning, mark] = [warned?.at(selected.doc, selected.row), lane?.at(selected.doc, selected.row)];
  if (!warning && !mark) return null;
  return (
    <div class="jxs-beside jxs-anywhere" tabIndex={0} role="note" aria-label="beside the line">
      {warning && <p class="jxs-beside-warning"><Said text={warning.text} /></p>}
      {mark && <p><Said text={mark.text} /></p>}
    </div>
  );
}

const HINT = "Hover over a line to see where it came from and what it became; click to pin it.";

export function DetailStrip() {
  const documents = useDocuments();
  const selection = useSelection();
  const hover = useSelected((s) => s.hover);
  const selected = useSelected((s) => s.selected);
  const layout = useLayoutStore();
  const open = useLayout((s) => s.stack);
  useSelected((s) => s.librarySource);
  useDoc(selected && documents.loaded(selected.doc));
  const detail = detailOf(documents, selection, open && selected ? selected : (hover ?? selected));
  const isHeld = selected !== null && (!hover || (hover.doc === selected.doc && hover.row === selected.row));
  const canOpen = (detail?.stack.length ?? 0) > 0;
  return (
    <footer class="jxs-detail jxs-strip">
      <div class="jxs-words" aria-live={isHeld ? "polite" : "off"}>
        {detail ? (
          <Words detail={detail} />
        ) : (
          <span class="jxs-hint jxs-dim" title={HINT}>
            {HINT}
          </span>
        )}
      </div>
      {selected?.doc === "hlo" && selection.summary?.views.includes("passes") && (
        <LinkButton text="follow through the passes" onClick={() => selection.follow(selected.doc, selected.row)} />
      )}
      <Message />
      {selected?.doc === "hlo" && selection.summary?.views.includes("machine") && (
        <button
          type="button"
          class="jxs-button jxs-boxed jxs-to-machine"
          title="Machine code of this instruction's kernel (k)"
          onClick={() => showMachineCode(selection)}
        >
          machine code
        </button>
      )}
      <IconButton
        icon="stack"
        label="Whole call stack (s)"
        pressed={open}
        disabled={!open && !canOpen}
        onClick={() => layout.set({ stack: !open })}
      />
      {!open && documents.frames()?.hasCalls && <Calls entries={detail && detail.stack.length > 1 ? detail.stack : []} />}
      <Beside />
      {open && detail && canOpen && <Stack entries={detail.stack} />}
      {open && !canOpen && <p class="jxs-stack jxs-dim">Select a line in an IR pane to see its call stack.</p>}
    </footer>
  );
}
