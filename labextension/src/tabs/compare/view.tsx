import { useState } from "preact/hooks";
import { type Cell, type Column, type Compare, type Order, type Row, sorted } from "./read";
import type { Session } from "../../model/session";
import { useKernelState, useShared } from "../../parts/hooks";

const MARKS = { best: "▲", worst: "▼", "": "" };
const LEGEND = "▲ best and ▼ worst of those known. Figures are of one device. Enter or a click opens a target's code.";

/** What the pointer or the keyboard is on, in one sentence. */
function about(row: Row, column: Column, cell: Cell): string {
  const more = cell.reason ?? cell.note;
  return `${column.title} on ${row.target}: ${cell.text}${more ? `, ${more}` : ""}${cell.mark ? ` (${cell.mark})` : ""}`;
}

function CellView({ cell, why }: { cell: Cell; why: string }) {
  const classes = ["jxs-cell", cell.mark && `jxs-${cell.mark}`, cell.reason && "jxs-unknown"].filter(Boolean).join(" ");
  return (
    <td class={classes} title={why}>
      {cell.mark && (
        <span class="jxs-rank">
          <span aria-hidden="true">{MARKS[cell.mark]}</span>
          <span class="jxs-hidden">{cell.mark} </span>
        </span>
      )}
      {cell.text}
      {cell.reason && <span class="jxs-hidden">: {cell.reason}</span>}
    </td>
  );
}

function Head({ column, order, onSort }: { column: Column; order: Order | null; onSort: () => void }) {
  const mine = order?.column === column.name;
  const sort = mine ? (order.down ? "descending" : "ascending") : "none";
  return (
    <th scope="col" aria-sort={sort} data-column={column.name}>
      <button type="button" class="jxs-order" title={`${column.hint}; click to sort`} onClick={onSort}>
        <span class="jxs-order-mark" aria-hidden="true">
          {mine ? (order.down ? "↓" : "↑") : ""}
        </span>
        {column.title}
      </button>
    </th>
  );
}

interface RowProps {
  row: Row;
  columns: Column[];
  current: boolean;
  onOpen: () => void;
  onTell: (why: string) => void;
}

function RowView({ row, columns, current, onOpen, onTell }: RowProps) {
  const shown = columns.flatMap((column) => {
    const cell = row.cells.get(column.name);
    return cell ? [{ column, cell, why: about(row, column, cell) }] : [];
  });
  return (
    <tr
      class={current ? "jxs-compared jxs-current" : "jxs-compared"}
      aria-current={current ? "true" : undefined}
      data-target={row.target}
      onClick={onOpen}
      onMouseOver={(e) => {
        const at = (e.target as HTMLElement).closest("td")?.cellIndex ?? 0;
        onTell(row.error ?? shown[at - 1]?.why ?? `${row.target}: ${row.device}`);
      }}
    >
      <th scope="row" title={row.device}>
        <button type="button" class="jxs-link" onFocus={() => onTell(row.error ?? `${row.target}: ${row.device}`)}>
          {row.target}
        </button>
        <span class="jxs-dim jxs-device">{row.device}</span>
      </th>
      {row.error === null ? (
        shown.map(({ column, cell, why }) => <CellView cell={cell} why={why} key={column.name} />)
      ) : (
        <td class="jxs-compare-error" colSpan={columns.length} title={row.error}>
          ✕ {row.error}
        </td>
      )}
    </tr>
  );
}

/** Arrows move among the rows. */
function move(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".jxs-compared .jxs-link")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  rows[Math.max(0, Math.min(at + step, rows.length - 1))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** The table, which the first of the call's targets holds, and the number of that one's call. */
function found(session: Session): { table: Compare; first: number } | null {
  const own = session.summary?.compare;
  if (!own) return null;
  const first = session.call - own.row;
  const table = session.state.calls[first]?.compare;
  return table?.rows.length ? { table, first } : null;
}

const next = (order: Order | null, column: string): Order | null =>
  order?.column !== column ? { column, down: false } : order.down ? null : { column, down: true };

export default function CompareView({ session }: { session: Session }) {
  useKernelState(session);
  const call = useShared(session, () => session.call);
  const [order, setOrder] = useState<Order | null>(null);
  const [why, setWhy] = useState("");
  const compared = found(session);
  if (!compared) return <p class="jxs-note">There is nothing to compare.</p>;
  const { table, first } = compared;
  const open = (row: Row) => {
    session.pickCall(first + row.at);
    session.store.set({ view: "code" });
  };
  return (
    <div class="jxs-compare" onKeyDown={move}>
      <div class="jxs-compare-scroll">
        <table aria-label="the call's targets">
          <thead>
            <tr>
              <th scope="col">target</th>
              {table.columns.map((column) => (
                <Head
                  column={column}
                  order={order}
                  key={column.name}
                  onSort={() => setOrder(next(order, column.name))}
                />
              ))}
            </tr>
          </thead>
          <tbody onMouseLeave={() => setWhy("")}>
            {sorted(table.rows, order).map((row) => (
              <RowView
                row={row}
                columns={table.columns}
                current={first + row.at === call}
                key={row.at}
                onOpen={() => open(row)}
                onTell={setWhy}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p class="jxs-compare-why">{why || LEGEND}</p>
    </div>
  );
}
