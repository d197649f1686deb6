import { toggle } from "../../model/actions";
import { togglePane } from "../../parts/panes";
import type { Show } from "../../model/rewrite";
import { LinesPicker } from "./linesPicker";
import { MarginPicker } from "./marginPicker";
import { useLayoutStore } from "../../parts/layout";
import { useDocuments, useSelected, useSelection } from "../../parts/hooks";
import { IconButton } from "../../parts/icons";
import { PanelButtons } from "../../parts/buttons";

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
