import { counted } from "../../wire/figures";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import type { Table } from "./read";
import { useMemo } from "preact/hooks";
import { byName } from "../../wire/check";
import type { Field } from "../../wire/tables";
import { Said } from "../../parts/said";

const ROW_PX = 23;
/** Columns that are left out where all rows say this. */
const OFTEN_NOTHING = byName<string>({ padding: "0 B" });

const isAllNothing = (field: Field): boolean => field.kind === "text" && field.strings.every((text) => text === OFTEN_NOTHING[field.name]);

/** In place of a table without rows, where its name does not say it. */
const NOTHING = byName<string>({ advice: "Nothing to suggest." });

interface Props {
  table: Table;
  label: string;
  /** Rows that came from what is selected elsewhere. */
  lit?: Set<number>;
  onRow?: (row: number) => void;
  onHover?: (row: number | null) => void;
}

/** A table of the kernel's, rows of which may be chosen. */
export function MemoryTable({ table, label, lit, onRow, onHover }: Props) {
  const grid = useMemo(() => ({ ...table.grid, fields: table.grid.fields.filter((field) => !isAllNothing(field)) }), [table.grid]);
  if (!grid.length) return <p class="jxs-note">{table.notes.join(" ") || (NOTHING[label] ?? `Nothing to list: no ${label}.`)}</p>;
  const left = table.total - grid.length;
  return (
    <div class="jxs-mem-table jxs-column">
      <SourceGrid
        grid={grid}
        label={label}
        isCodeAnswer
        height={ROW_PX}
        isLined
        isLit={(row) => lit?.has(row) ?? false}
        onPick={onRow}
        onPoint={(row) => onHover?.(row < 0 ? null : row)}
      />
      {left > 0 && <p class="jxs-note">{counted(left)} more, all smaller.</p>}
      {table.notes.map((note) => (
        <p class="jxs-note" key={note}>
          <Said text={note} />
        </p>
      ))}
    </div>
  );
}
