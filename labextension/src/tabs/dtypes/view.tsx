import { useMemo, useState } from "preact/hooks";
import { text } from "../../wire/check";
import { matching } from "../../parts/grid/sort";
import type { Reply } from "../../wire/source";
import { type Field, type TableReply, readTable, textAt } from "../../wire/tables";
import { DetailStrip } from "../../parts/detailStrip";
import { FilterBar, NO_MATCHES } from "../../parts/filter";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import { useDoc, useDocuments, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { lineOf, rowOfLine } from "../../model/sourceLines";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

const WIDTHS = { stage: 64, from: 52, to: 52, kind: 84, shape: 118, grows: 60, runs: 48, by: 84, for: 130, line: 110 };

/** The table with the lines at its beginning, which are what one looks for. */
export async function read(reply: Reply): Promise<TableReply> {
  const table = await readTable(reply, WIDTHS);
  const isLine = ({ name }: Field) => name === "line";
  const { fields } = table.grid;
  return { ...table, grid: { ...table.grid, fields: [...fields.filter(isLine), ...fields.filter((field) => !isLine(field))] } };
}

function Shown({ table }: { table: TableReply }) {
  const documents = useDocuments();
  const selection = useSelection();
  const selected = useSelected((s) => s.selected);
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState(-1);
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  useDoc(documents.doc("python"));
  const lines = useMemo(() => Array.from({ length: table.grid.length }, (_, row) => textAt(table.grid, "line", row)), [table]);
  const line = lineOf(documents, selected);
  const at = table.row;
  const place = (row: number): [doc: string, row: number] => {
    const hlo = at[row] ?? -1;
    return hlo >= 0 ? ["hlo", hlo] : ["python", rowOfLine(documents, lines[row] ?? "")];
  };
  const pick = (row: number) => {
    setCurrent(row);
    const [doc, to] = place(row);
    if (to >= 0) selection.select(doc, to, "dtypes");
  };
  const open = (row: number) => {
    const [doc, to] = place(row);
    if (to >= 0) selection.show(doc, to);
  };
  const headline = text(table.result.headline);
  if (!table.grid.length) return <p class="jxs-note"><Said text={headline} /></p>;
  return (
    <>
      <p class="jxs-headline jxs-anywhere"><Said text={headline} /></p>
      <FilterBar label="Filter the conversions" value={query} onInput={setQuery}>
        <span class="jxs-dim">jaxpr conversions first, then those XLA kept or added</span>
      </FilterBar>
      <SourceGrid
        grid={table.grid}
        rows={rows}
        label="dtype conversions"
        current={current}
        isLit={(row) => line !== "" && lines[row] === line}
        onPick={pick}
        onOpen={open}
      />
      {!rows.length && <p class="jxs-note">{NO_MATCHES}</p>}
      <DetailStrip />
    </>
  );
}

/** Where values are promoted or demoted, and the bytes that costs. */
export default function DtypesView() {
  const question = useQuestion("dtypes", {}, read);
  return (
    <div class="jxs-column jxs-grow">
      {question.value ? <Shown table={question.value} /> : <Waiting question={question} what="Finding the conversions" />}
    </div>
  );
}
