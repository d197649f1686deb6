import { toggle } from "../../model/actions";
import { togglePane } from "../../parts/panes";
import type { Show } from "../../model/rewrite";
import { useDoc, useDocuments, useLayoutStore, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { IconButton } from "../../parts/icons";
import { PanelButtons } from "../../parts/buttons";
import { useEffect } from "preact/hooks";
import { EVERYTHING } from "../../model/frames";
import { fields } from "../../wire/check";
import { readDocument } from "../../wire/state";
import { Asking } from "../../parts/waiting";
import { Heat, MEASURES } from "../../model/heat";
import { LEGENDS, Lane } from "../../model/lane";
import { chooseMargin, offeredMargins } from "../../model/margin";
import { Said } from "../../parts/said";

function AskHeat({ measure }: { measure: string }) {
  const selection = useSelection();
  const question = useQuestion("heat", { measure }, (reply) => Heat.read(measure, reply));
  useEffect(() => selection.set({ heat: question.value }), [question.value]);
  return question.value ? null : <Asking question={question} />;
}

function AskLane({ measure }: { measure: string }) {
  const selection = useSelection();
  const question = useQuestion("lane", { lane: measure }, Lane.read);
  useEffect(() => selection.set({ lane: question.value }), [question.value]);
  if (!question.value) return <Asking question={question} />;
  const [note] = question.value.notes;
  return (
    <>
      <span>{LEGENDS[measure]}</span>
      {note && (
        <span class="jxs-asking-why jxs-cut" role="alert" title={note}>
          <Said text={note} />
        </span>
      )}
    </>
  );
}

const MARGIN_HINT =
  "Beside each line: its share of the program's cost, the sharding of its values, where a dtype changes, or its measured time";

/** What stands beside the lines; until something is chosen the kernel is asked for nothing. */
function MarginPicker() {
  const selection = useSelection();
  const chosen = useSelected((s) => s.measure);
  const names = offeredMargins(selection);
  if (!names.length) return null;
  const measure = names.includes(chosen) ? chosen : "";
  const pick = (event: Event) => chooseMargin(selection, (event.target as HTMLSelectElement).value);
  const Ask = MEASURES.some((name) => name === measure) ? AskHeat : AskLane;
  return (
    <span class="jxs-heat-picker">
      <label title={MARGIN_HINT}>
        annotate lines{" "}
        <select value={measure} onChange={pick}>
          <option value="">none</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {measure && <Ask measure={measure} key={`${selection.call} ${measure}`} />}
    </span>
  );
}

function AskLibrary({ library }: { library: string }) {
  const selection = useSelection();
  const question = useQuestion("library", { library }, ({ result }) => readDocument(fields(result)));
  useEffect(() => {
    selection.set({ librarySource: question.value });
  }, [question.value]);
  return question.value ? null : <Asking question={question} />;
}

const LINES_HINT =
  "Whose lines an operation is linked to: the innermost of your own, or that of the library, whose source then has a pane too";

/** Chooses whose lines count. Only where operations have frames in a library. */
function LinesPicker() {
  const documents = useDocuments();
  const selection = useSelection();
  const chosen = useSelected((s) => s.library);
  useDoc(documents.doc("python"));
  const libraries = documents.frames()?.libraries ?? [];
  if (!libraries.length) return null;
  const library = chosen === EVERYTHING || libraries.includes(chosen) ? chosen : "";
  const pick = (event: Event) => documents.countLibrary((event.target as HTMLSelectElement).value);
  return (
    <span class="jxs-heat-picker jxs-lines-picker">
      <label title={LINES_HINT}>
        lines of{" "}
        <select value={library} onChange={pick}>
          <option value="">my code</option>
          {libraries.map((name) => (
            <option key={name} value={name}>
              my code and {name}
            </option>
          ))}
          {libraries.length > 1 && <option value={EVERYTHING}>everything</option>}
        </select>
      </label>
      {library && <AskLibrary library={library} key={`${selection.call} ${library}`} />}
    </span>
  );
}

interface ToggleProps {
  text: string;
  title: string;
  on: boolean;
  onClick: () => void;
  name: string;
}

function Toggle({ text, title, on, onClick, name }: ToggleProps) {
  return (
    <button type="button" class="jxs-toggle" title={title} aria-pressed={on} data-toggle={name} onClick={onClick}>
      {text}
    </button>
  );
}

const SHOWN: [keyof Show, string][] = [
  ["types", "Types of values (t)"],
  ["layouts", "Layouts of HLO arrays, such as {1,0} (l)"],
  ["metadata", "Source and op name beside each line, and backend configuration (m)"],
];

export function Toolbar({ open, onFull }: { open: string[]; onFull: (() => void) | null }) {
  const documents = useDocuments();
  const selection = useSelection();
  const show = useSelected((s) => s.show);
  useSelected((s) => s.selected);
  const layout = useLayoutStore();
  useSelected((s) => s.librarySource);
  const choose = (kind: string) => {
    const panes = togglePane(open, kind);
    const { active } = selection.get();
    layout.set({ panes });
    if (!panes.includes(active)) selection.set({ active: panes[0] ?? "" });
  };
  return (
    <div class="jxs-toolbar" role="toolbar" aria-label="Code view">
      <span class="jxs-group" role="group" aria-label="panes">
        {documents.listed.map(({ kind, title }) => (
          <Toggle
            key={kind}
            name={kind}
            text={title}
            title={`Show or hide the ${title} pane`}
            on={open.includes(kind)}
            onClick={() => choose(kind)}
          />
        ))}
      </span>
      <span class="jxs-group" role="group" aria-label="shown in the text">
        {SHOWN.map(([name, title]) => (
          <Toggle key={name} name={name} text={name} title={title} on={show[name]} onClick={() => toggle(selection, name)} />
        ))}
      </span>
      <LinesPicker />
      <MarginPicker />
      <span class="jxs-grow" />
      <IconButton icon="back" label="Back (Alt+←)" disabled={!selection.canGoBack} onClick={() => selection.goBack()} />
      {onFull && <PanelButtons onFull={onFull} />}
    </div>
  );
}
