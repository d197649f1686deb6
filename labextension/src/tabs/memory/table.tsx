import { useState } from "preact/hooks";
import type { Table } from "./read";

/** Columns of sentences, which may take several lines. */
const WORDS = ["how", "note"];

/** Rows that are drawn at first: the browser lays out all of them whenever anything near changes. */
const FIRST = 50;

interface Props {
  table: Table;
  label: string;
  /** Rows that came from what is selected elsewhere. */
  lit?: Set<number>;
  onRow?: (row: number) => void;
  onHover?: (row: number | null) => void;
}

/** Arrows move among the rows that can be chosen. */
function move(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("tbody button")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  rows[Math.max(0, Math.min(at + step, rows.length - 1))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** A table of the kernel's, rows of which may be chosen. */
export function MemoryTable({ table, label, lit, onRow, onHover }: Props) {
  const [most, setMost] = useState(FIRST);
  if (!table.rows.length) return <p class="jxs-note">{table.notes.join(" ") || `There is nothing to list: no ${label}.`}</p>;
  return (
    <div class="jxs-mem-table" onKeyDown={move}>
      <table aria-label={label}>
        <thead>
          <tr>
            {table.columns.map(({ name, hint, number }) => (
              <th scope="col" key={name} title={hint} class={number ? "jxs-number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onMouseLeave={() => onHover?.(null)}>
          {table.rows.slice(0, most).map((cells, row) => (
            <tr
              key={row}
              class={[lit?.has(row) && "jxs-lit", onRow && "jxs-mem-row"].filter(Boolean).join(" ")}
              onMouseEnter={() => onHover?.(row)}
              onClick={() => onRow?.(row)}
            >
              {cells.map((cell, i) => (
                <td
                  key={table.columns[i]?.name}
                  class={[
                    table.columns[i]?.number && "jxs-number",
                    WORDS.includes(table.columns[i]?.name ?? "") && "jxs-mem-words",
                    cell === "unknown" && "jxs-dim",
                  ]
                    .filter(Boolean)
                    .join(" ")}
                  title={cell}
                >
                  {i === 0 && onRow ? (
                    <button type="button" class="jxs-link" onFocus={() => onHover?.(row)} onBlur={() => onHover?.(null)}>
                      {cell}
                    </button>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > most && (
        <p class="jxs-note">
          <button type="button" class="jxs-button jxs-boxed" onClick={() => setMost(table.rows.length)}>
            {(table.rows.length - most).toLocaleString("en")} more
          </button>
        </p>
      )}
      {most >= table.rows.length && table.total > table.rows.length && (
        <p class="jxs-note">{(table.total - table.rows.length).toLocaleString("en")} more, all of them smaller.</p>
      )}
      {table.notes.map((note) => (
        <p class="jxs-note" key={note}>
          {note}
        </p>
      ))}
    </div>
  );
}
