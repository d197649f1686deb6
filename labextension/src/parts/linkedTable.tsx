/** A table whose rows stand for rows of a document, or for source lines: a click selects them, a double click shows them. */

import { useMemo, useState } from "preact/hooks";
import { lineOf, rowOfLine } from "../model/sourceLines";
import { type TableReply, textAt } from "../wire/tables";
import { SourceGrid } from "./grid/sourceGrid";
import { useDoc, useDocuments, useSelected, useSelection } from "./hooks";

interface LinkedTableProps {
  table: TableReply;
  label: string;
  /** The document that the reply's row numbers are of. */
  doc: string;
  /** Who selects, for those who look at the selection. */
  from: string;
  rows?: Uint32Array;
}

export function LinkedTable({ table, label, doc, from, rows }: LinkedTableProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const selected = useSelected((s) => s.selected);
  const [current, setCurrent] = useState(-1);
  useDoc(documents.doc("python"));
  const lines = useMemo(() => Array.from({ length: table.grid.length }, (_, row) => textAt(table.grid, "line", row)), [table]);
  const line = lineOf(documents, selected);
  const at = table.row;
  const place = (row: number): [doc: string, row: number] => {
    const to = at[row] ?? -1;
    return to >= 0 ? [doc, to] : ["python", rowOfLine(documents, lines[row] ?? "")];
  };
  const go = (row: number, act: (doc: string, row: number) => void) => {
    const [where, to] = place(row);
    if (to >= 0) act(where, to);
  };
  return (
    <SourceGrid
      grid={table.grid}
      {...(rows && { rows })}
      label={label}
      current={current}
      isLit={(row) => line !== "" && lines[row] === line}
      onPick={(row) => (setCurrent(row), go(row, (where, to) => selection.select(where, to, from)))}
      onOpen={(row) => go(row, (where, to) => selection.show(where, to))}
    />
  );
}
