import { useMemo, useState } from "preact/hooks";
import { FilterBox } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { useSelected } from "../../parts/hooks";
import { useElapsed } from "../../parts/waiting";
import { clock } from "../../wire/figures";
import { type Figures, type Kernel, type KernelTable, gridOf } from "./read";
import type { Answer } from "../../model/question";
import { Said } from "../../parts/said";

const ROW_PX = 38;

interface Props {
  table: KernelTable;
  figures: Answer<Map<string, Figures>>;
  chosen: Kernel;
  /** Keys of the kernels that came from what is selected. */
  lit: Set<string>;
  onChoose: (kernel: Kernel) => void;
}

function Measured({ question }: { question: Props["figures"] }) {
  const elapsed = useElapsed(question.since, question.state === "waiting");
  if (question.state === "done") return null;
  if (question.state === "waiting") {
    return (
      <span class="jxs-dim" role="status">
        measuring… <span aria-hidden="true">{clock(elapsed)}</span>{" "}
        <button type="button" class="jxs-button" onClick={question.stop}>
          Cancel
        </button>
      </span>
    );
  }
  return (
    <span class="jxs-dim" role="alert">
      not measured{question.problem && `: ${question.problem}`}{" "}
      <button type="button" class="jxs-button" onClick={question.askAgain}>
        Try again
      </button>
    </span>
  );
}

/** Arrows in the box move in the table below it. */
function passArrows(event: KeyboardEvent): void {
  if (!(event.target instanceof HTMLInputElement) || !event.key.startsWith("Arrow") || event.ctrlKey || event.altKey || event.metaKey) return;
  const { key } = event;
  (event.currentTarget as HTMLElement).querySelector(".jxs-grid")?.dispatchEvent(new KeyboardEvent("keydown", { key }));
  event.preventDefault();
  event.stopPropagation();
}

function launchOf({ instructions, kind, grid, threads }: Kernel): string {
  const launch = grid.length ? `; grid ${grid.join("×")}, block ${threads.join("×")}` : "";
  return `${instructions.slice(0, 12).join(", ")}: ${kind}${launch}`;
}

export function KernelList({ table, figures, chosen, lit, onChoose }: Props) {
  const [query, setQuery] = useState("");
  const [only, setOnly] = useState(false);
  const selected = useSelected((s) => s.selected);
  const grid = useMemo(() => gridOf(table, figures.value), [table, figures.value]);
  const matches = useMemo(() => matching(grid, query), [grid, query]);
  const elsewhere = selected !== null && selected.from !== "machine" && !selected.doc.includes(":");
  const kernel = (row: number) => table.kernels[row] as Kernel;
  const shown = only && elsewhere ? matches.filter((row) => lit.has(kernel(row).key)) : matches;
  return (
    <div class="jxs-kernels jxs-column" onKeyDown={passArrows}>
      <div class="jxs-filter-bar jxs-strip">
        <FilterBox label="Filter kernels; arrows move" placeholder="Filter kernels" value={query} onInput={setQuery} />
        {elsewhere && (
          <button type="button" class="jxs-toggle jxs-from" aria-pressed={only} disabled={!lit.size} onClick={() => setOnly(!only)}>
            {lit.size === 1 ? "1 kernel" : `${lit.size || "no"} kernels`} from the selection
          </button>
        )}
        <Measured question={figures} />
      </div>
      {table.notes.map((note) => (
        <p class="jxs-note" key={note}>
          <Said text={note} />
        </p>
      ))}
      <div class="jxs-kernel-rows jxs-grow jxs-column" aria-busy={figures.state === "waiting"}>
        <GridView
          grid={grid}
          rows={shown}
          label="kernels"
          height={ROW_PX}
          current={table.kernels.findIndex(({ key }) => key === chosen.key)}
          isLit={(row) => lit.has(kernel(row).key)}
          rowClass={(row) => (kernel(row).own ? "jxs-kernel" : "jxs-kernel jxs-foreign")}
          rowAttributes={(row) => ({ "data-kernel": kernel(row).key, title: launchOf(kernel(row)) })}
          onPick={(row) => onChoose(kernel(row))}
        />
        {!shown.length && <p class="jxs-dim jxs-lack jxs-anywhere">No matching kernels.</p>}
      </div>
    </div>
  );
}
