import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  COLUMNS,
  type Figures,
  type Kernel,
  type KernelTable,
  MEANING,
  type Measure,
  type Order,
  matching,
  sorted,
} from "./read";
import type { Session } from "../../model/session";
import { useShared } from "../../parts/hooks";
import type { Look } from "../../parts/useQuestion";
import { clock, useElapsed } from "../../parts/waiting";

const MOST_ROWS = 1000;

interface Props {
  session: Session;
  table: KernelTable;
  figures: Look<Map<string, Figures>>;
  chosen: Kernel;
  /** Keys of the kernels that came from what is selected. */
  lit: Set<string>;
  onChoose: (kernel: Kernel) => void;
}

function Measured({ look }: { look: Props["figures"] }) {
  const elapsed = useElapsed(look.since, look.state === "waiting");
  if (look.state === "done") return null;
  if (look.state === "waiting") {
    return (
      <span class="jxs-dim" role="status">
        measuring… {clock(elapsed)}{" "}
        <button type="button" class="jxs-button" onClick={look.stop}>
          Cancel
        </button>
      </span>
    );
  }
  return (
    <span class="jxs-dim" role="alert">
      not measured{look.problem && `: ${look.problem}`}{" "}
      <button type="button" class="jxs-button" onClick={look.again}>
        Try again
      </button>
    </span>
  );
}

function Head({ columns, order, onOrder }: { columns: [Measure, string][]; order: Order; onOrder: (order: Order) => void }) {
  const titles: [Order["by"], string, string][] = [
    ["key", "kernel", "its symbol, and the HLO instructions that run it"],
    ...columns.map(([by, title]) => [by, title, MEANING[by]] as [Order["by"], string, string]),
  ];
  const next = (by: Order["by"]): Order => {
    if (order.by !== by) return { by, down: by !== "key" };
    return order.down === (by !== "key") ? { by, down: !order.down } : { by: null, down: false };
  };
  return (
    <div class="jxs-kernel jxs-kernel-head" role="row">
      {titles.map(([by, title, hint]) => (
        <span role="columnheader" key={by} aria-sort={order.by !== by ? "none" : order.down ? "descending" : "ascending"}>
          <button type="button" class="jxs-kernel-sort" title={`${hint}; click to sort`} data-sort={by} onClick={() => onOrder(next(by))}>
            {title}
            {order.by === by && (order.down ? " ▾" : " ▴")}
          </button>
        </span>
      ))}
    </div>
  );
}

function Cell({ by, figures }: { by: Measure; figures: Figures | undefined }) {
  const number = figures?.[by] ?? null;
  if (number === null) {
    return (
      <span role="gridcell" class="jxs-number jxs-dim" title={figures?.reason || "not known yet"}>
        {figures ? "?" : ""}
      </span>
    );
  }
  const loud = by === "spills" && number > 0;
  return (
    <span role="gridcell" class={loud ? "jxs-number jxs-spilled" : "jxs-number"} title={`${number.toLocaleString("en")} ${MEANING[by]}`}>
      {number.toLocaleString("en")}
    </span>
  );
}

function runBy({ key, instructions, own }: Kernel): string {
  if (!own) return "no kernel of its own";
  const [first] = instructions;
  if (first === undefined) return "not in this module";
  const more = instructions.length > 1 ? ` and ${instructions.length - 1} more` : "";
  return first === key && !more ? "" : `${first}${more}`;
}

interface RowProps {
  kernel: Kernel;
  id: string;
  columns: [Measure, string][];
  figures: Map<string, Figures> | null;
  state: string;
  onChoose: () => void;
}

function Row({ kernel, id, columns, figures, state, onChoose }: RowProps) {
  const launch = kernel.grid.length ? `; grid ${kernel.grid.join("×")}, block ${kernel.threads.join("×")}` : "";
  return (
    <div
      role="row"
      id={id}
      class={`jxs-kernel ${state}`}
      data-kernel={kernel.key}
      aria-selected={state.includes("jxs-current")}
      title={`${kernel.instructions.slice(0, 12).join(", ")}: ${kernel.kind}${launch}`}
      onClick={onChoose}
    >
      <span role="gridcell" class="jxs-kernel-name">
        <code>{kernel.key}</code>
        <span class="jxs-dim">
          {kernel.kind}
          {runBy(kernel) && ` · ${runBy(kernel)}`}
        </span>
      </span>
      {columns.map(([by]) => (
        <Cell key={by} by={by} figures={figures?.get(kernel.key)} />
      ))}
    </div>
  );
}

let lists = 0;

export function KernelList({ session, table, figures, chosen, lit, onChoose }: Props) {
  const [query, setQuery] = useState("");
  const [only, setOnly] = useState(false);
  const [order, setOrder] = useState<Order>({ by: null, down: false });
  const [id] = useState(() => `jxs-kernels-${lists++}`);
  const body = useRef<HTMLDivElement>(null);
  const selected = useShared(session, (s) => s.selected);
  const columns = COLUMNS[table.platform] ?? [];
  const found = useMemo(
    () => sorted(matching(table.kernels, query), figures.value, order),
    [table, query, figures.value, order],
  );
  const elsewhere = selected !== null && selected.from !== "machine" && !selected.doc.includes(":");
  const shown = (only && elsewhere ? found.filter(({ key }) => lit.has(key)) : found).slice(0, MOST_ROWS);
  const at = shown.findIndex(({ key }) => key === chosen.key);
  useEffect(() => {
    const row = body.current?.querySelector<HTMLElement>(".jxs-current");
    if (row && body.current) reveal(body.current, row);
  }, [chosen, shown.length, order]);
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    const inBox = event.target instanceof HTMLInputElement;
    if (!step || event.ctrlKey || event.altKey || event.metaKey || (inBox && !event.key.startsWith("Arrow"))) return;
    const next = shown[Math.max(0, Math.min(at + step, shown.length - 1))];
    if (next) onChoose(next);
    event.preventDefault();
    event.stopPropagation();
  };
  const style = { "--jxs-numbers": String(columns.length) };
  return (
    <div class="jxs-kernels" style={style} onKeyDown={key}>
      <div class="jxs-kernels-bar">
        <input
          type="search"
          spellcheck={false}
          placeholder="Filter kernels"
          aria-label="Filter kernels; arrows move"
          value={query}
          onInput={(e) => setQuery((e.target as HTMLInputElement).value)}
        />
        {elsewhere && (
          <button type="button" class="jxs-toggle jxs-from" aria-pressed={only} disabled={!lit.size} onClick={() => setOnly(!only)}>
            {lit.size === 1 ? "1 kernel" : `${lit.size} kernels`} from the selection
          </button>
        )}
        <Measured look={figures} />
      </div>
      {table.notes.map((note) => (
        <p class="jxs-note" key={note}>
          {note}
        </p>
      ))}
      <div class="jxs-kernel-rows" role="grid" aria-label="kernels" tabIndex={0} ref={body} aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}>
        <Head columns={columns} order={order} onOrder={setOrder} />
        {shown.map((kernel, i) => (
          <Row
            key={kernel.key}
            id={`${id}-${i}`}
            kernel={kernel}
            columns={columns}
            figures={figures.value}
            state={[kernel.key === chosen.key && "jxs-current", lit.has(kernel.key) && "jxs-lit", !kernel.own && "jxs-foreign"].filter(Boolean).join(" ")}
            onChoose={() => onChoose(kernel)}
          />
        ))}
        {!shown.length && <p class="jxs-dim jxs-lack">No kernel has these words.</p>}
        {found.length > MOST_ROWS && <p class="jxs-dim jxs-lack">{found.length - MOST_ROWS} more; filter them.</p>}
      </div>
    </div>
  );
}

/** Scrolls the list alone, never the notebook around it. */
function reveal(list: HTMLElement, row: HTMLElement): void {
  const [box, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  const head = list.firstElementChild?.getBoundingClientRect().height ?? 0;
  if (at.top < box.top + head) list.scrollTop -= box.top + head - at.top;
  else if (at.bottom > box.bottom) list.scrollTop += at.bottom - box.bottom;
}
