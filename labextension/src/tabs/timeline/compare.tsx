import { useMemo, useState } from "preact/hooks";
import { rowOfLine } from "../../model/sourceLines";
import { FilterBox, NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { Waiting } from "../../parts/waiting";
import { type Part, type TimelineComparison, grewAt, readComparison } from "./compareRead";
import { lasting, lineAt } from "./tableRead";
import { useDocuments, useKeptState, useQuestion, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";

const BY: readonly (readonly [by: string, title: string])[] = [
  ["lines", "lines"],
  ["ops", "HLO ops"],
  ["kernels", "kernels"],
  ["scopes", "scopes"],
  ["kinds", "kinds"],
];

const GREW = ["jxs-tl-shrank", "", "jxs-tl-grew"];

const titled = ({ title, seconds }: Part) => (seconds === null ? title : `${title} (${lasting(seconds)})`);

function Choice({ label, parts, now, onChoose }: { label: string; parts: Part[]; now: string; onChoose: (key: string) => void }) {
  return (
    <label class="jxs-tl-part">
      <span class="jxs-dim">{label}</span>{" "}
      <select value={now} onChange={(event) => onChoose((event.target as HTMLSelectElement).value)}>
        {parts.map((part) => (
          <option value={part.key} key={part.key}>
            {titled(part)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Changes({ table, query }: { table: TimelineComparison; query: string }) {
  const documents = useDocuments();
  const selection = useSelection();
  const [current, setCurrent] = useState(-1);
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  const pick = (row: number) => {
    setCurrent(row);
    const source = rowOfLine(documents, lineAt(table, row));
    const hlo = table.hloRows[row] ?? -1;
    if (hlo >= 0) selection.select("hlo", hlo, "timeline table");
    else if (source >= 0) selection.select("python", source, "timeline table");
  };
  return (
    <>
      <GridView grid={table.grid} rows={rows} label="what grew and what shrank" current={current} rowClass={(row) => GREW[grewAt(table, row) + 1] ?? ""} onPick={pick} />
      {!rows.length && <p class="jxs-note">{table.grid.length ? NO_MATCHES : table.nothing}</p>}
      {table.notes.map((note) => (
        <p class="jxs-dim jxs-caption jxs-anywhere" key={note}>
          <Said text={note} />
        </p>
      ))}
    </>
  );
}

/** Two steps of a profile, or two profiles: what grew and what shrank, the largest change first. */
export function CompareTable() {
  const selection = useSelection();
  const [[before, after, by], setChosen] = useKeptState<[string, string, string]>(`timeline compare ${selection.call}`, ["", "", "lines"]);
  const [query, setQuery] = useState("");
  const question = useQuestion("timeline compare", { before, after, by }, readComparison);
  const choose = (...to: [string, string, string]) => setChosen(to);
  const table = question.value;
  if (!table) return <Waiting question={question} what="Comparing" />;
  if (table.parts.length < 2) return <p class="jxs-note jxs-anywhere">{table.nothing}</p>;
  return (
    <>
      <div class="jxs-filter-bar jxs-strip">
        <Choice label="before" parts={table.parts} now={table.before} onChoose={(key) => choose(key, table.after, by)} />
        <Choice label="after" parts={table.parts} now={table.after} onChoose={(key) => choose(table.before, key, by)} />
        <label class="jxs-tl-part">
          <span class="jxs-dim">by</span>{" "}
          <select value={by} onChange={(event) => choose(table.before, table.after, (event.target as HTMLSelectElement).value)}>
            {BY.map(([one, title]) => (
              <option value={one} key={one}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <FilterBox label="Filter the comparison" value={query} onInput={setQuery} />
      </div>
      <p class="jxs-tl-change jxs-anywhere" role="status">
        <Said text={table.headline} />
      </p>
      <Changes table={table} query={query} key={`${before} ${after} ${by}`} />
    </>
  );
}
