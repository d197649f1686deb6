import { counted } from "../../wire/figures";
import { useEffect, useMemo, useState } from "preact/hooks";
import { sentences, text } from "../../wire/check";
import { matching } from "../../parts/grid/sort";
import { processesOf, readLayout, readPlaces } from "./meshMap";
import type { Reply } from "../../wire/source";
import { type TableReply, readTable, textAt } from "../../wire/tables";
import { FilterBar, NO_MATCHES } from "../../parts/filter";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import { useDoc, useDocuments, useKept, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { MeshMapView } from "./meshMapView";
import { lineOf, rowOfLine } from "../../model/sourceLines";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

const WIDTHS = { value: 226, sharding: 132, "chosen by": 64, "per device": 64, "per process": 110, copies: 44, padding: 52, type: 110, shard: 100, kind: 84, line: 92, dimensions: 110 };
export const read = (reply: Reply) => readTable(reply, WIDTHS);

function Laid({ all, value, table }: { all: boolean; value: number; table: TableReply }) {
  const [chart, setChart] = useKeptState("sharding chart", "");
  const question = useQuestion("sharding_map", { all, value }, readLayout);
  const places = useMemo(() => readPlaces(table.result.places), [table]);
  if (!question.value) return <Waiting question={question} what="Computing the layout" />;
  return <MeshMapView layout={question.value} places={places} first={chart} onChart={setChart} />;
}

function Shown({ table, all }: { table: TableReply; all: boolean }) {
  const documents = useDocuments();
  const selection = useSelection();
  const kept = useKept();
  const selected = useSelected((s) => s.selected);
  const [query, setQuery] = useState("");
  const key = `sharding value ${all}`;
  const [current, setCurrent] = useState((kept.recall(key) as number | undefined) ?? 0);
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  useDoc(documents.doc("python"));
  const lines = useMemo(() => Array.from({ length: table.grid.length }, (_, row) => textAt(table.grid, "line", row)), [table]);
  const line = lineOf(documents, selected);
  useEffect(() => {
    const at = selected && selected.from !== "shardings" && line ? lines.indexOf(line) : -1;
    if (at >= 0) setCurrent(at);
  }, [selected, line, lines]);
  const pick = (row: number) => {
    kept.keep(key, row);
    setCurrent(row);
    const source = rowOfLine(documents, lines[row] ?? "");
    if (source >= 0) selection.select("python", source, "shardings");
  };
  const open = (row: number) => {
    const source = rowOfLine(documents, lines[row] ?? "");
    if (source >= 0) selection.show("python", source);
    else selection.say("No source line is known for this value.");
  };
  const count = table.grid.length;
  const shown = Math.min(current, count - 1);
  return (
    <div class="jxs-shardings-body">
      <div class="jxs-shardings-list jxs-column">
        <FilterBar label="Filter the values" value={query} onInput={setQuery} />
        <SourceGrid
          grid={table.grid}
          rows={rows}
          label="values and their shardings"
          current={shown}
          isLit={(row) => line !== "" && lines[row] === line}
          onPick={pick}
          onOpen={open}
        />
        {!rows.length && <p class="jxs-note">{count ? NO_MATCHES : "No values."}</p>}
      </div>
      {count > 0 && <Laid all={all} value={shown} table={table} key={`${all} ${shown}`} />}
    </div>
  );
}

const Values = ({ all, onTable }: { all: boolean; onTable: (table: TableReply) => void }) => {
  const question = useQuestion("shardings", { all }, read);
  useEffect(() => {
    if (question.value) onTable(question.value);
  }, [question.value]);
  if (!question.value) return <Waiting question={question} what={all ? "Recompiling for the shardings of intermediates" : "Reading the shardings"} />;
  return <Shown table={question.value} all={all} key={String(all)} />;
};

/** How arguments, results and what lies between them are laid on the devices. */
export default function ShardingsView() {
  const selection = useSelection();
  const [all, setAll] = useKeptState("sharding all", false);
  const [table, setTable] = useState<TableReply | null>(null);
  const compiled = selection.summary?.views.includes("collectives") ?? false;
  const toggle = () => setAll(!all);
  const mesh = text(table?.result.mesh);
  const places = useMemo(() => readPlaces(table?.result.places), [table]);
  const devices = places.length;
  const of = processesOf(places);
  const known = selection.summary?.error?.explanation ?? "";
  const notes = sentences(table?.result.notes).filter((note) => !known.includes(note));
  return (
    <div class="jxs-shardings jxs-grow jxs-column">
      <div class="jxs-shardings-head jxs-strip">
        <span>
          {devices > 0 && <b>{`${counted(devices)} device${devices === 1 ? "" : "s"}`}</b>}
          {of && <span> {of}</span>}
          {mesh && <span class="jxs-dim"> mesh {mesh}</span>}
        </span>
        <span class="jxs-grow" />
        {compiled && (
          <button
            type="button"
            class="jxs-button jxs-boxed"
            aria-pressed={all}
            title="Values between arguments and results, after sharding propagation; recompiles the program"
            onClick={toggle}
          >
            {all ? "Arguments and results only" : "Show intermediates"}
          </button>
        )}
      </div>
      {notes.map((note) => (
        <p class="jxs-caution jxs-caption jxs-anywhere" role="alert" key={note}>
          <Said text={note} />
        </p>
      ))}
      <Values all={all} onTable={setTable} />
    </div>
  );
}
