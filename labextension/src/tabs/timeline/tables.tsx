import { useEffect, useMemo, useState } from "preact/hooks";
import { counted } from "../../wire/figures";
import { NONE, classOf } from "../../model/links";
import { rowOfLine } from "../../model/sourceLines";
import { FilterBox, NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { useDoc, useDocuments, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Waiting } from "../../parts/waiting";
import { CompareTable } from "./compare";
import { type Range, TABLES, type TimelineTable, lasting, lineAt, readTimelineTable } from "./tableRead";
import { byName } from "../../wire/check";
import type { Documents } from "../../model/documents";
import type { Place } from "../../model/place";
import { Said } from "../../parts/said";

interface TablesProps {
  /** Those that have something to show; the first opens, until the user chooses another. */
  names: string[];
  /** What of the timeline the tables are of; null for all of it. */
  range: Range | null;
  onClear: () => void;
  /** Shows a part of the timeline. */
  onGo: (range: Range) => void;
}

const DOC = "hlo";
/** What a click on a row does, where that is not to select it. */
const HINTS = byName<string>({ gaps: "Filter; click zooms to a gap", steps: "Filter; click zooms to a step" });

/** Where a row leads: its source line, in a table of lines, else its HLO instruction, else the line it names. */
function targetOf(documents: Documents, name: string, table: TimelineTable, row: number): Place | null {
  const source = rowOfLine(documents, lineAt(table, row));
  const hlo = table.hloRows[row] ?? -1;
  if (name !== "lines" && hlo >= 0) return { doc: DOC, row: hlo };
  if (source >= 0) return { doc: "python", row: source };
  return hlo >= 0 ? { doc: DOC, row: hlo } : null;
}

/** Which rows came from what is selected elsewhere. */
function useIsLit(name: string, table: TimelineTable): (row: number) => boolean {
  const documents = useDocuments();
  const selected = useSelected((s) => s.selected);
  const hlo = documents.doc(DOC);
  const python = documents.doc("python");
  useDoc(hlo);
  useDoc(python);
  const lit = documents.lit(selected);
  return (row) => {
    const target = lit && targetOf(documents, name, table, row);
    const rows = target && documents.loaded(target.doc)?.rows;
    return Boolean(target && rows && classOf(lit, rows, target.row) !== NONE);
  };
}

interface RowsProps extends Pick<TablesProps, "onGo"> {
  name: string;
  query: string;
}

function Rows({ name, query, table, onGo }: RowsProps & { table: TimelineTable }) {
  const documents = useDocuments();
  const selection = useSelection();
  const [current, setCurrent] = useState(-1);
  const selected = useSelected((s) => s.selected);
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  const isLit = useIsLit(name, table);
  useEffect(() => {
    if (selected && selected.from !== "timeline table") setCurrent(-1);
  }, [selected]);
  const pick = (row: number) => {
    setCurrent(row);
    const target = targetOf(documents, name, table, row);
    if (target) selection.select(target.doc, target.row, "timeline table");
    const span = table.spans[row];
    if (span) onGo(span);
  };
  const open = (row: number) => {
    const target = targetOf(documents, name, table, row);
    if (target) selection.show(target.doc, target.row);
  };
  const point = (row: number) => {
    const target = row < 0 ? null : targetOf(documents, name, table, row);
    selection.set({ hover: target && { ...target, from: "timeline table" } });
  };
  const left = table.total - table.grid.length;
  if (!table.grid.length) return <p class="jxs-note jxs-anywhere">{table.nothing}</p>;
  return (
    <>
      <GridView
        grid={table.grid}
        rows={rows}
        label={`timeline ${name}`}
        current={current}
        isLit={isLit}
        onPick={pick}
        onOpen={open}
        onPoint={point}
      />
      {!rows.length && <p class="jxs-note">{NO_MATCHES}</p>}
      {left > 0 && <p class="jxs-note">{counted(left)} more, all smaller.</p>}
      {table.notes.map((note) => (
        <p class="jxs-dim jxs-caption jxs-anywhere" key={note}>
          <Said text={note} />
        </p>
      ))}
    </>
  );
}

function Table({ range, ...props }: RowsProps & Pick<TablesProps, "range">) {
  const { name } = props;
  const params = { table: name, ...(range && { from: range.from, to: range.to }) };
  const question = useQuestion("timeline table", params, readTimelineTable);
  const [shown, setShown] = useState(question.value);
  useEffect(() => {
    if (question.value) setShown(question.value);
  }, [question.value]);
  const table = question.value ?? (question.state === "waiting" ? shown : null);
  if (!table) return <Waiting question={question} what="Summing" />;
  return <Rows table={table} {...props} />;
}

/** The tables of the whole timeline, or of what is selected of it. */
export function Tables({ names, range, onClear, ...act }: TablesProps) {
  const selection = useSelection();
  const [query, setQuery] = useState("");
  const [chosen, choose] = useKeptState(`timeline table ${selection.call}`, "");
  const shown = TABLES.filter(([name]) => names.includes(name));
  const name = chosen === "compare" || shown.some(([one]) => one === chosen) ? chosen : (shown[0]?.[0] ?? "");
  const buttons = [...shown, ["compare", "Compare", "two steps or two profiles, and what grew and shrank"] as const];
  return (
    <div class="jxs-tl-tables jxs-column jxs-grow">
      <div class="jxs-tl-bar-of-tables jxs-strip">
        <span class="jxs-group" role="group" aria-label="tables of the timeline">
          {buttons.map(([one, title, hint]) => (
            <button type="button" class="jxs-toggle" key={one} data-table={one} title={hint} aria-pressed={one === name} onClick={() => choose(one)}>
              {title}
            </button>
          ))}
        </span>
        {name !== "compare" && <FilterBox label="Filter the table" placeholder={HINTS[name] ?? "Filter"} value={query} onInput={setQuery} />}
        {range && (
          <span class="jxs-tl-range" role="status">
            of the {lasting(range.to - range.from)} selected, events clipped to it{" "}
            <button type="button" class="jxs-button jxs-boxed" onClick={onClear}>
              Clear selection
            </button>
          </span>
        )}
      </div>
      {name === "compare" ? <CompareTable /> : <Table key={name} name={name} query={query} range={range} {...act} />}
    </div>
  );
}
