import { useMemo } from "preact/hooks";
import { Message, PanelButtons } from "../../parts/buttons";
import { FilterBox, NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { RefreshButton } from "../../parts/refreshButton";
import { Said } from "../../parts/said";
import { useLast } from "../../parts/useLast";
import { Waiting } from "../../parts/waiting";
import { useKeptState, useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { counted } from "../../wire/figures";
import type { TabProps } from "../tab";
import { RecordDetail } from "./detail";
import { type JobPrograms, type JobRecords, readPrograms, readRecords } from "./read";

const ALL = -1;
/** More processes than these are chosen from a list. */
const MOST_BUTTONS = 6;
/** Of the panel: up to here the detail is below the list, as in the style. */
const NARROW_PX = 820;

interface Choosing<T> {
  value: T;
  onChange: (value: T) => void;
}

function Toggle<T extends string | number>({ title, hint, own, value, onChange }: Choosing<T> & { title: string; hint: string; own: T }) {
  return (
    <button type="button" class="jxs-toggle" data-toggle={own} title={hint} aria-pressed={value === own} onClick={() => onChange(own)}>
      {title}
    </button>
  );
}

/** Which process's records are listed. */
function Processes({ processes, value, onChange }: Choosing<number> & { processes: number[] }) {
  if (processes.length > MOST_BUTTONS) {
    return (
      <select aria-label="process" value={value} onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}>
        {[ALL, ...processes].map((one) => (
          <option key={one} value={one}>
            {one === ALL ? "all processes" : `process ${one}`}
          </option>
        ))}
      </select>
    );
  }
  return (
    <span class="jxs-group" role="group" aria-label="of which process">
      <Toggle own={ALL} title="All" hint="List the records of all processes" value={value} onChange={onChange} />
      {processes.map((one) => (
        <Toggle key={one} own={one} title={`Process ${one}`} hint={`List the records of process ${one} only`} value={value} onChange={onChange} />
      ))}
    </span>
  );
}

/** How much there is to say of all processes, and which of them did not answer. */
function Head({ records }: { records: JobRecords }) {
  const [first, ...others] = records.sentences;
  const late = new Set(records.missing.map(({ process, why }) => `No log of process ${process}: ${why}.`));
  return (
    <div class="jxs-jc-head">
      <p class="jxs-headline jxs-anywhere">{first}</p>
      {others.map((words) => (
        <p class={late.has(words) ? "jxs-jc-wrong" : "jxs-dim"} key={words}>
          <Said text={words} />
        </p>
      ))}
    </div>
  );
}

interface Props extends Pick<TabProps, "width" | "onFull"> {
  records: JobRecords;
  programs: JobPrograms | null;
  onRefreshed: () => void;
}

function Body({ records, programs, width, onFull, onRefreshed }: Props) {
  const selection = useSelection();
  const questions = useQuestions();
  const [list, setList] = useKeptState(`job compiles list ${selection.call}`, programs?.grid.length ? "programs" : "records");
  const [process, setProcess] = useKeptState(`job compiles process ${selection.call}`, ALL);
  const [eager, setEager] = useKeptState(`job compiles eager ${selection.call}`, false);
  const [query, setQuery] = useKeptState(`job compiles query ${selection.call}`, "");
  const [chosen, setChosen] = useKeptState(`job compiles chosen ${selection.call}`, "");
  const isPrograms = list === "programs" && programs !== null;
  const grid = isPrograms ? programs.grid : records.grid;
  const shown = useMemo(() => {
    const found = matching(grid, query);
    if (isPrograms) return found;
    return found.filter((row) => (process === ALL || records.process[row] === process) && (eager || !records.isEager[row]));
  }, [grid, query, isPrograms, process, eager, records]);
  const keyOf = (row: number) => `${records.process[row]} ${records.number[row]}`;
  const current = useMemo(() => Array.from({ length: records.grid.length }, (_, row) => keyOf(row)).indexOf(chosen), [records, chosen]);
  const openProgram = (row: number) => {
    setQuery(programs?.program(row) ?? "");
    setProcess(ALL);
    setList("records");
  };
  return (
    <div class="jxs-jc jxs-column jxs-grow" data-narrow={width <= NARROW_PX}>
      <Head records={records} />
      <div class="jxs-filter-bar jxs-strip">
        <FilterBox label="Filter the compiles" placeholder="Filter by program, line" value={query} onInput={setQuery} />
        <span class="jxs-group" role="group" aria-label="what is listed">
          <Toggle own="programs" title="Programs" hint="One row a program of several processes; click one for its records" value={list} onChange={setList} />
          <Toggle own="records" title="Records" hint="One row a record of each process, in the order of time" value={list} onChange={setList} />
        </span>
        {!isPrograms && <Processes processes={records.processes} value={process} onChange={setProcess} />}
        {!isPrograms && (
          <button type="button" class="jxs-toggle" data-toggle="eager" title="List operations outside any jitted function too, such as jnp.ones" aria-pressed={eager} onClick={() => setEager(!eager)}>
            Eager
          </button>
        )}
        {records.leftOut > 0 && <span class="jxs-dim">{counted(records.leftOut)} older records are not listed</span>}
        <span class="jxs-grow" />
        {onFull && <Message />}
        {records.canRefresh && !questions.isSaved && <RefreshButton method="job_compiles_refresh" title="Ask all processes again" nouns={["record", "records"]} none="Nothing was compiled since." meanwhile="Asking…" onRefreshed={onRefreshed} />}
        {onFull && <PanelButtons onFull={onFull} />}
      </div>
      <div class="jxs-jc-body">
        <div class="jxs-jc-list jxs-column">
          {isPrograms ? (
            <GridView grid={grid} rows={shown} label="programs of several processes" onPick={openProgram} key="programs" />
          ) : (
            <GridView grid={grid} rows={shown} label="records of all processes" current={current} onPick={(row) => setChosen(keyOf(row))} key="records" />
          )}
          {!shown.length && <p class="jxs-note">{grid.length ? NO_MATCHES : "Nothing is listed."}</p>}
        </div>
        {!isPrograms && current >= 0 && <RecordDetail records={records} row={current} key={chosen} />}
      </div>
    </div>
  );
}

/** What all processes of a job have compiled: the programs that they share, and each one's records. */
export default function JobCompilesView({ width, onFull }: TabProps) {
  const list = useQuestion("job_compiles", {}, readRecords);
  const shared = useQuestion("job_compiles_programs", {}, readPrograms);
  const [records, programs] = [useLast(list), useLast(shared)];
  const refresh = () => {
    list.askAgain();
    shared.askAgain();
  };
  if (!records) return <Waiting question={list} what="Reading the logs" />;
  if (!programs && shared.state === "waiting") return <Waiting question={shared} what="Matching the programs" />;
  return <Body records={records} programs={programs} width={width} onFull={onFull} onRefreshed={refresh} />;
}
