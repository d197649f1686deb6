import { useEffect, useMemo, useState } from "preact/hooks";
import { NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { Waiting } from "../../parts/waiting";
import { messageOf } from "../../wire/errors";
import type { Reply } from "../../wire/source";
import type { TabProps } from "../tab";
import { Detail } from "./detail";
import { Totals, Verdict } from "./head";
import { type Causes, type Compiles, causeRows, readCauses, readCompiles } from "./read";
import { openRecord } from "./openButtons";
import { readMarked } from "./readRecord";
import { type Choice, gridOf, isListed, rowsOf } from "./rows";
import { StripView } from "./stripView";
import { stripOf } from "./strip";
import { Toolbar } from "./toolbar";
import { useKeptState, useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import type { Answer } from "../../model/question";
import { DifferingDocuments } from "../../parts/differingDocuments";
import { readDifference } from "../../parts/readDifference";
import { useLast } from "../../parts/useLast";

interface Props {
  number: number;
  other: number;
  onClose: () => void;
}

/** In place of the list: the lines in which two programs differ, as they were compiled. */
function Difference({ number, other, onClose }: Props) {
  const question = useQuestion("compile_compare", { number, other }, readDifference);
  return (
    <div class="jxs-co-list jxs-column jxs-co-compared">
      <div class="jxs-strip jxs-differing-kinds">
        <b>
          #{other} → #{number}
        </b>
        <button type="button" class="jxs-button jxs-boxed" onClick={onClose}>
          Back to the list
        </button>
      </div>
      {question.value ? <DifferingDocuments {...question.value} /> : <Waiting question={question} what="Comparing" />}
    </div>
  );
}

const USUAL: Choice = { recompiles: false, mendable: false, mine: true, folded: true, scope: true };
/** Of the panel: up to here the detail is below the list, as in the style. */
const NARROW_PX = 820;

/** The line of the chosen record is marked in its cell, as long as it is chosen here. */
function useMarkedLine(number: number): void {
  const selection = useSelection();
  const questions = useQuestions();
  useEffect(() => {
    if (number < 0 || questions.isSaved) return undefined;
    let isThere = true;
    const mark = (reply: Reply) => isThere && selection.set({ outside: readMarked(reply) });
    questions.request("compile_place", { number }).then(mark, () => undefined);
    return () => {
      isThere = false;
      selection.set({ outside: null });
    };
  }, [number]);
}

interface ListProps extends Pick<TabProps, "width" | "onFull"> {
  compiles: Compiles;
  causes: Answer<Causes>;
  onRefreshed: () => void;
}

function Nothing({ compiles }: { compiles: Compiles }) {
  const off = "The compile log is off; jaxstage_ext.compiles() starts it.";
  return <p class="jxs-note">{compiles.isOn ? "JAX has compiled nothing since the log began." : off}</p>;
}

function List({ compiles, causes: asked, width, onRefreshed, onFull }: ListProps) {
  const selection = useSelection();
  const questions = useQuestions();
  const causes = useLast(asked);
  const [choice, setChoice] = useKeptState(`compiles choice ${selection.call}`, { ...USUAL, scope: compiles.scope !== "", folded: !compiles.isUnfolded });
  const [query, setQuery] = useKeptState(`compiles query ${selection.call}`, "");
  const [chosen, setChosen] = useKeptState(`compiles number ${selection.call}`, -1);
  const causeRow = useMemo(() => causeRows(compiles, causes), [compiles, causes]);
  const rows = useMemo(
    () => rowsOf(compiles, (row) => isListed(compiles, causes, causeRow, choice, row), choice.folded),
    [compiles, causes, causeRow, choice],
  );
  const grid = useMemo(() => gridOf(compiles, causes, causeRow, rows), [compiles, causes, causeRow, rows]);
  const shown = useMemo(() => matching(grid, query), [grid, query]);
  const onStrip = useMemo(() => [...shown].flatMap((at) => rows[at]?.members ?? []).sort((a, b) => a - b), [rows, shown]);
  const strip = useMemo(() => stripOf(compiles, causes, causeRow, onStrip), [compiles, causes, causeRow, onStrip]);
  const number = chosen >= 0 ? chosen : (causes?.headline?.number ?? -1);
  const record = compiles.number.indexOf(number);
  const current = useMemo(() => rows.findIndex(({ members }) => members.includes(record)), [rows, record]);
  const [other, setOther] = useState(-1);
  useMarkedLine(chosen);
  const pick = (to: number) => {
    setOther(-1);
    setChosen(to);
  };
  const pickRow = (row: number) => pick(compiles.number[row] ?? -1);
  const openRow = (at: number) => {
    const opened = compiles.number[rows[at]?.first ?? -1];
    if (opened !== undefined && !questions.isSaved) openRecord(selection, questions, opened).catch((error: unknown) => selection.say(messageOf(error)));
  };
  return (
    <div class="jxs-compiles jxs-column" data-narrow={width <= NARROW_PX}>
      <div class="jxs-co-head">
        <Verdict compiles={compiles} causes={causes} onPick={pick} />
        <Totals compiles={compiles} causes={causes} />
      </div>
      {asked.state !== "done" && !causes && <Waiting question={asked} what="Comparing" />}
      <StripView compiles={compiles} causes={causes} causeRow={causeRow} strip={strip} rows={onStrip} current={record} onPick={pickRow} />
      <Toolbar compiles={compiles} choice={choice} query={query} onChoice={setChoice} onQuery={setQuery} onRefreshed={onRefreshed} onFull={onFull} />
      <div class="jxs-co-body">
        {other >= 0 && record >= 0 ? (
          <Difference number={number} other={other} onClose={() => setOther(-1)} key={`${number} ${other}`} />
        ) : (
          <div class="jxs-co-list jxs-column">
            <GridView grid={grid} rows={shown} label="compiles" current={current} onPick={(at) => pickRow(rows[at]?.first ?? -1)} onOpen={openRow} />
            {!shown.length && <p class="jxs-note">{NO_MATCHES}</p>}
          </div>
        )}
        {record >= 0 && <Detail compiles={compiles} causes={causes} causeRow={causeRow} number={number} onPick={pick} onCompare={setOther} key={number} />}
      </div>
    </div>
  );
}

/** What JAX compiled in this kernel, and why: the newest answers of the kernel, the list before the causes. */
export default function CompilesView({ width, onFull }: TabProps) {
  const list = useQuestion("compiles", {}, readCompiles);
  const causes = useQuestion("compiles_causes", {}, readCauses);
  const compiles = useLast(list);
  const refresh = () => {
    list.askAgain();
    causes.askAgain();
  };
  if (!compiles) return <Waiting question={list} what="Reading the log" />;
  if (!compiles.length) {
    return (
      <div class="jxs-compiles jxs-column">
        <Nothing compiles={compiles} />
        <Toolbar compiles={compiles} choice={USUAL} query="" onChoice={() => undefined} onQuery={() => undefined} onRefreshed={refresh} onFull={onFull} />
      </div>
    );
  }
  return <List compiles={compiles} causes={causes} width={width} onRefreshed={refresh} onFull={onFull} />;
}
