import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { fields, list, sentences, text } from "../../wire/check";
import type { NumberField } from "../../wire/tables";
import { cellText, matching } from "../../parts/grid/sort";
import { NONE, classOf } from "../../model/links";
import type { Reply } from "../../wire/source";
import { type TableReply, besides, readTable, textAt } from "../../wire/tables";
import { DetailStrip } from "../../parts/detailStrip";
import { FilterBar, NO_MATCHES } from "../../parts/filter";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import { useDoc, useDocuments, useKept, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { rowOfLine } from "../../model/sourceLines";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

const WIDTHS = { collective: 104, line: 92, time: 72, exposed: 66, overlap: 76, sent: 68, axes: 62, devices: 54, cause: 200, from: 110, to: 110, payload: 68, runs: 44 };
export const read = (reply: Reply) => readTable(reply, WIDTHS);

/** Whether no other work hides it. */
const isExposed = ({ result }: TableReply, row: number): boolean => list(fields(result.more).exposed, row + 1)[row] === true;

/** What the table has no column for. */
function About({ table, row }: { table: TableReply; row: number }) {
  const more = fields(table.result.more);
  const value = (name: string) => {
    const field = table.grid.fields.find((one) => one.name === name);
    return field ? cellText(field, row) : "";
  };
  const timed = table.grid.fields.find((one): one is NumberField => one.name === "time" && one.kind === "number");
  const time = timed && !Number.isFinite(timed.values[row]) ? `unknown: ${timed.why?.(row)}` : value("time");
  const [from, to] = [textAt(table.grid, "from", row), textAt(table.grid, "to", row)];
  const said: [string, string][] = [
    ["instruction", besides(more.instruction, row)],
    ["groups", besides(more.groups, row)],
    ["because", textAt(table.grid, "cause", row)],
    ["from", from],
    ["to", to],
    ["meanwhile", besides(more.meanwhile, row) || (isExposed(table, row) ? "nothing" : "")],
    ["lower bound", time],
  ];
  return (
    <dl class="jxs-facts-list" aria-label="about this collective">
      {said
        .filter(([, words]) => words)
        .map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
    </dl>
  );
}

function Shown({ table, children }: { table: TableReply; children: ComponentChildren }) {
  const documents = useDocuments();
  const selection = useSelection();
  const kept = useKept();
  const selected = useSelected((s) => s.selected);
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState((kept.recall("collective") as number | undefined) ?? (table.grid.length ? 0 : -1));
  const rows = useMemo(() => matching(table.grid, query), [table, query]);
  const hlo = documents.doc("hlo");
  useDoc(hlo);
  const at = table.row;
  useEffect(() => {
    if (selected && selected.from !== "collectives" && selected.doc === "hlo") {
      const found = at.indexOf(selected.row);
      if (found >= 0) setCurrent(found);
    }
  }, [selected, table]);
  const lit = documents.lit(selected);
  const isLit = (row: number) => (at[row] ?? -1) >= 0 && hlo?.rows != null && classOf(lit, hlo.rows, at[row] as number) !== NONE;
  const pick = (row: number) => {
    kept.keep("collective", row);
    setCurrent(row);
    const to = at[row] ?? -1;
    if (to >= 0) selection.select("hlo", to, "collectives");
  };
  const open = (row: number) => {
    const source = rowOfLine(documents, textAt(table.grid, "line", row));
    if (source >= 0) selection.show("python", source);
    else if ((at[row] ?? -1) >= 0) selection.show("hlo", at[row] as number);
  };
  const warnings = list(table.result.warnings).map((raw) => ({ words: text(fields(raw).text), line: text(fields(raw).line) }));
  const notes = sentences(table.result.notes);
  const headline = text(table.result.headline);
  if (!table.grid.length) return <p class="jxs-note"><Said text={headline} /></p>;
  return (
    <>
      <p class="jxs-headline jxs-anywhere"><Said text={headline} /></p>
      {children}
      {warnings.map(({ words, line }) => (
        <p class="jxs-caution jxs-caption jxs-anywhere" key={words}>
          {words}{" "}
          {rowOfLine(documents, line) >= 0 && (
            <button type="button" class="jxs-link" onClick={() => selection.show("python", rowOfLine(documents, line))}>
              show the line
            </button>
          )}
        </p>
      ))}
      <FilterBar label="Filter the collectives" value={query} onInput={setQuery}>
        <span class="jxs-dim">most expensive first; click to select, Enter to open its line</span>
      </FilterBar>
      <SourceGrid
        grid={table.grid}
        rows={rows}
        label="collectives"
        current={current}
        isLit={isLit}
        onPick={pick}
        onOpen={open}
        onPoint={(row) => selection.set({ hover: row < 0 || (at[row] ?? -1) < 0 ? null : { doc: "hlo", row: at[row] as number, from: "collectives" } })}
      />
      {!rows.length && <p class="jxs-note">{NO_MATCHES}</p>}
      {current >= 0 && <About table={table} row={current} />}
      {notes.map((note) => (
        <p class="jxs-dim jxs-caption jxs-anywhere" key={note}>
          <Said text={note} />
        </p>
      ))}
      <DetailStrip />
    </>
  );
}

/** What caused them the compiler is asked; the rest of the table does not wait for that. */
function WithCauses({ quick }: { quick: TableReply }) {
  const question = useQuestion("collectives", { quick: false }, read);
  return (
    <Shown table={question.value ?? quick}>
      {!question.value && <Waiting question={question} what="Recompiling to find what caused them" />}
    </Shown>
  );
}

/** What the devices exchange: how much, how long at least, hidden or exposed, and why. */
export default function CollectivesView() {
  const question = useQuestion("collectives", { quick: true }, read);
  return (
    <div class="jxs-column jxs-grow">
      {question.value ? <WithCauses quick={question.value} /> : <Waiting question={question} what="Finding the collectives" />}
    </div>
  );
}
