import { counted } from "../../wire/figures";
import { useEffect, useMemo, useState } from "preact/hooks";
import { sentences, text } from "../../wire/check";
import { matching } from "../../parts/grid/sort";
import { readLayout, readPlaces } from "./meshMap";
import type { Session } from "../../model/session";
import type { Reply } from "../../wire/source";
import { type TableReply, readTable, textAt } from "../../wire/tables";
import { FilterBar, NO_MATCHES } from "../../parts/filter";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import { useDoc, useShared } from "../../parts/hooks";
import { useQuestion } from "../../parts/useQuestion";
import { MeshMapView } from "./meshMapView";
import { lineOf, rowOfLine } from "../../model/sourceLine";
import { Waiting } from "../../parts/waiting";

const WIDTHS = { value: 226, sharding: 132, "chosen by": 64, "per device": 64, copies: 44, padding: 52, type: 110, shard: 100, kind: 84, line: 92 };
export const read = (reply: Reply) => readTable(reply, WIDTHS);

function Laid({ session, all, value, table }: { session: Session; all: boolean; value: number; table: TableReply }) {
  const [chart, setChart] = useState((session.recall("sharding chart") as string | undefined) ?? "");
  const question = useQuestion(session, "sharding_map", { all, value }, readLayout);
  const places = useMemo(() => readPlaces(table.result.places), [table]);
  const choose = (name: string) => {
    session.keep("sharding chart", name);
    setChart(name);
  };
  if (!question.value) return <Waiting question={question} what="Computing the layout" />;
  return <MeshMapView layout={question.value} places={places} first={chart} onChart={choose} />;
}

function Shown({ session, table, all }: { session: Session; table: TableReply; all: boolean }) {
  const selected = useShared(session, (s) => s.selected);
  const [query, setQuery] = useState("");
  const key = `sharding value ${all}`;
  const [current, setCurrent] = useState((session.recall(key) as number | undefined) ?? 0);
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  useDoc(session.doc("python"));
  const lines = useMemo(() => Array.from({ length: table.grid.length }, (_, row) => textAt(table.grid, "line", row)), [table]);
  const line = lineOf(session, selected);
  useEffect(() => {
    const at = selected && selected.from !== "shardings" && line ? lines.indexOf(line) : -1;
    if (at >= 0) setCurrent(at);
  }, [selected, line, lines]);
  const pick = (row: number) => {
    session.keep(key, row);
    setCurrent(row);
    const source = rowOfLine(session, lines[row] ?? "");
    if (source >= 0) session.select("python", source, "shardings");
  };
  const open = (row: number) => {
    const source = rowOfLine(session, lines[row] ?? "");
    if (source >= 0) session.show("python", source);
    else session.say("No source line is known for this value.");
  };
  const count = table.grid.length;
  const shown = Math.min(current, count - 1);
  return (
    <div class="jxs-shardings-body">
      <div class="jxs-shardings-list jxs-column">
        <FilterBar label="Filter the values" value={query} onInput={setQuery} />
        <SourceGrid
          session={session}
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
      {count > 0 && <Laid session={session} all={all} value={shown} table={table} key={`${all} ${shown}`} />}
    </div>
  );
}

const Values = ({ session, all, onTable }: { session: Session; all: boolean; onTable: (table: TableReply) => void }) => {
  const question = useQuestion(session, "shardings", { all }, read);
  useEffect(() => {
    if (question.value) onTable(question.value);
  }, [question.value]);
  if (!question.value) return <Waiting question={question} what={all ? "Recompiling for the shardings of intermediates" : "Reading the shardings"} />;
  return <Shown session={session} table={question.value} all={all} key={String(all)} />;
};

/** How arguments, results and what lies between them are laid on the devices. */
export default function ShardingsView({ session }: { session: Session }) {
  const [all, setAll] = useState(session.recall("sharding all") === true);
  const [table, setTable] = useState<TableReply | null>(null);
  const compiled = session.summary?.views.includes("collectives") ?? false;
  const toggle = () => {
    session.keep("sharding all", !all);
    setAll(!all);
  };
  const mesh = text(table?.result.mesh);
  const places = useMemo(() => readPlaces(table?.result.places), [table]);
  const [devices, hosts] = [places.length, new Set(places.map(({ host }) => host)).size];
  const known = session.summary?.error?.explanation ?? "";
  const notes = sentences(table?.result.notes).filter((note) => !known.includes(note));
  return (
    <div class="jxs-shardings jxs-grow jxs-column">
      <div class="jxs-shardings-head jxs-strip">
        <span>
          {devices > 0 && <b>{`${counted(devices)} device${devices === 1 ? "" : "s"}`}</b>}
          {mesh && <span class="jxs-dim"> mesh {mesh}</span>}
          {hosts > 1 && <span class="jxs-dim"> on {hosts} hosts, separated by gaps in the map</span>}
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
          {note}
        </p>
      ))}
      <Values session={session} all={all} onTable={setTable} />
    </div>
  );
}
