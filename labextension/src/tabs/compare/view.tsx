import { useMemo, useState } from "preact/hooks";
import { GridView } from "../../parts/grid/gridView";
import { usePanel, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { DifferingDocuments } from "../../parts/differingDocuments";
import { readDifference } from "../../parts/readDifference";
import { Said } from "../../parts/said";
import { Waiting } from "../../parts/waiting";
import { type Compare, gridOf, readCompare } from "./read";
import type { Selection } from "../../model/selection";
import type { Panel } from "../../model/panel";

const ROW_PX = 25;
const LEGEND = "▲ best, ▼ worst of the known values; below: how much more than the first, or than the version before. Figures are per device. Click a target, or press Enter, to open its code.";

/** The table, which the first of the call's targets holds, and the number of that one's call. */
function comparisonOf(selection: Selection, panel: Panel): { table: Compare; first: number } | null {
  const own = readCompare(selection.summary?.compare);
  if (!own) return null;
  const first = selection.call - own.row;
  const table = readCompare(panel.state.calls[first]?.compare);
  return table?.rows.length ? { table, first } : null;
}

/** Which two of the rows are compared line by line, and the lines. */
function Lines({ table }: { table: Compare }) {
  const [pair, setPair] = useState([table.before, table.before ? 0 : 1]);
  const [isAsked, ask] = useState(table.before > 0);
  const [before = 0, after = 1] = pair;
  const choose = (which: number) => (event: Event) => setPair(pair.with(which, Number((event.target as HTMLSelectElement).value)));
  const selects = ["from", "to"].map((title, which) => (
    <label key={title}>
      {title}{" "}
      <select value={pair[which]} aria-label={`lines that differ, ${title}`} onChange={choose(which)}>
        {table.rows.map(({ at, target }) => (
          <option key={at} value={at}>
            {target}
          </option>
        ))}
      </select>
    </label>
  ));
  return (
    <section class="jxs-column jxs-compare-lines" data-asked={isAsked} aria-label="the lines that differ">
      <div class="jxs-strip jxs-compare-pair">
        <b>Lines that differ</b>
        {selects}
        {!isAsked && (
          <button type="button" class="jxs-button jxs-boxed" onClick={() => ask(true)}>
            Show
          </button>
        )}
      </div>
      {isAsked && <Difference key={`${before} ${after}`} before={before} after={after} />}
    </section>
  );
}

function Difference({ before, after }: { before: number; after: number }) {
  const question = useQuestion("difference", { before, after }, readDifference);
  return question.value ? <DifferingDocuments {...question.value} /> : <Waiting question={question} what="Comparing" />;
}

function Targets({ table, first }: { table: Compare; first: number }) {
  const selection = useSelection();
  const call = useSelected(() => selection.call);
  const [about, setAbout] = useState("");
  const grid = useMemo(() => gridOf(table), [table]);
  const open = (row: number) => {
    selection.pickCall(first + row);
    selection.set({ view: "code" });
  };
  const attributes = (row: number) => {
    const { target = "", device = "" } = table.rows[row] ?? {};
    return { "data-target": target, title: `${target}: ${device}`, "aria-current": first + row === call ? "true" : undefined };
  };
  return (
    <div class="jxs-compare jxs-column">
      {table.headline && (
        <p class="jxs-headline jxs-anywhere">
          <Said text={table.headline} />
        </p>
      )}
      <div class="jxs-compare-scroll jxs-column">
        <GridView
          grid={grid}
          label="the call's targets"
          height={ROW_PX}
          isLined
          current={call - first}
          rowClass={() => "jxs-compared"}
          rowAttributes={attributes}
          problem={(row) => table.rows[row]?.error ?? null}
          onPick={open}
          onAbout={setAbout}
        />
      </div>
      <p class="jxs-compare-why jxs-anywhere">{about || LEGEND}</p>
      {table.rows.length > 1 && <Lines table={table} />}
    </div>
  );
}

export default function CompareView() {
  const selection = useSelection();
  const panel = usePanel();
  const compared = useMemo(() => comparisonOf(selection, panel), [panel.state, selection.call]);
  if (!compared) return <p class="jxs-note">Nothing to compare.</p>;
  return <Targets {...compared} />;
}
