import { useEffect, useRef, useState } from "preact/hooks";
import type { Inspected } from "./inspectionList";
import { InspectionRow, freeHint } from "./row";

export interface ListActions {
  open: (one: Inspected) => void;
  free: (one: Inspected) => void;
  goToCell: (one: Inspected) => void;
  compare: (one: Inspected, other: Inspected) => void;
}

interface Props {
  rows: Inspected[];
  /** How many the kernel has beside them. */
  leftOut: number;
  actions: ListActions;
}

/** The two that were chosen last. */
const chosenAfter = (chosen: string[], id: string): string[] =>
  chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2);

/** Where a key leads in a list of that many rows; null where it leads nowhere. */
function rowAfter(key: string, at: number, length: number): number | null {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: length - 1 }[key];
  return to === undefined ? null : Math.max(0, Math.min(length - 1, to));
}

function CompareBar({ chosen, onCompare, onClear }: { chosen: Inspected[]; onCompare: () => void; onClear: () => void }) {
  if (!chosen.length) return null;
  return (
    <div class="jxs-side-compare jxs-strip">
      <span role="status">{chosen.length === 2 ? "2 chosen" : "Choose one more to compare"}</span>
      <span class="jxs-grow" />
      <button type="button" class="jxs-button jxs-boxed" onClick={onClear}>
        Clear
      </button>
      <button type="button" class="jxs-button jxs-boxed jxs-side-primary" disabled={chosen.length !== 2} onClick={onCompare}>
        Compare
      </button>
    </div>
  );
}

/** The inspections as rows that arrow keys go through. */
export function InspectionsList({ rows, leftOut, actions }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState("");
  const [chosenIds, setChosen] = useState<string[]>([]);
  const known = rows.filter(({ isFreed }) => !isFreed);
  const chosen = chosenIds.flatMap((id) => known.filter((one) => one.id === id));
  const at = Math.max(0, rows.findIndex(({ id }) => id === current));
  const choose = (one: Inspected) => !one.isFreed && setChosen((before) => chosenAfter(before, one.id));
  const compare = () => {
    const [newer, older] = [...chosen].sort((a, b) => rows.indexOf(a) - rows.indexOf(b));
    if (newer && older) actions.compare(older, newer);
  };
  const keyed = (event: KeyboardEvent) => {
    const one = rows[at];
    if (!one || event.altKey || event.metaKey || event.ctrlKey) return;
    const to = rowAfter(event.key, at, rows.length);
    const act: Record<string, () => unknown> = {
      Enter: () => !one.isFreed && actions.open(one),
      Delete: () => !one.isFreed && actions.free(one),
      " ": () => choose(one),
      g: () => actions.goToCell(one),
      c: compare,
    };
    if (to !== null) host.current?.querySelectorAll<HTMLElement>('[role="row"]')[to]?.focus();
    else if ((event.target as HTMLElement).getAttribute("role") !== "row" || !act[event.key]) return;
    else act[event.key]?.();
    event.preventDefault();
    event.stopPropagation();
  };
  useEffect(() => setChosen((before) => before.filter((id) => known.some((one) => one.id === id))), [rows]);
  return (
    <>
      <CompareBar chosen={chosen} onCompare={compare} onClear={() => setChosen([])} />
      <div class="jxs-side-list" role="grid" aria-label="inspections, the newest first" aria-multiselectable="true" ref={host} onKeyDown={keyed}>
        {rows.map((one, place) => (
          <InspectionRow
            one={one}
            key={one.id}
            isChosen={chosen.includes(one)}
            isCurrent={place === at}
            onFocus={() => setCurrent(one.id)}
            onOpen={() => !one.isFreed && actions.open(one)}
            onFree={() => actions.free(one)}
            onCell={() => actions.goToCell(one)}
            onChoose={() => choose(one)}
          />
        ))}
        {leftOut > 0 && <p class="jxs-side-more jxs-dim">and {leftOut} older ones</p>}
      </div>
      <p class="jxs-side-keys jxs-dim" title={rows[at] && freeHint(rows[at])}>
        ↑ ↓ move · Enter opens · Space chooses, c compares · Delete frees · g goes to the cell
      </p>
    </>
  );
}
