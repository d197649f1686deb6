import { useEffect, useMemo, useState } from "preact/hooks";
import { Message, PanelButtons } from "../../parts/buttons";
import { FilterBox, NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { RefreshButton } from "../../parts/refreshButton";
import { Waiting } from "../../parts/waiting";
import { counted } from "../../wire/figures";
import type { TabProps } from "../tab";
import { type Advice, type Cache, type EntryAbout, readCache, readEntry, readMisses } from "./read";
import { useQuestion, useQuestions, useSelection } from "../../parts/hooks";
import { copy } from "../../model/actions";
import { IconButton } from "../../parts/icons";
import { Said } from "../../parts/said";

function About({ about }: { about: EntryAbout }) {
  const shown = [["compile log", about.records.join(", ") || "no record of it"], ...about.facts, ["key", about.key]];
  return (
    <>
      <dl class="jxs-facts-list jxs-cc-facts">
        <div>
          <dt>nearest earlier entry</dt>
          <dd>
            {about.missed.map((words) => (
              <div key={words}>{words}</div>
            ))}
          </dd>
        </div>
        {shown.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {about.diff.length > 0 && (
        <details>
          <summary>StableHLO, before and now</summary>
          <pre>{about.diff.join("\n")}</pre>
        </details>
      )}
    </>
  );
}

/** One entry: its key, its file, why its key differs from the nearest, and which compiles asked for it. */
function Entry({ entry }: { entry: string }) {
  const question = useQuestion("compile_cache_entry", { key: entry }, readEntry);
  return (
    <div class="jxs-cc-entry" role="region" aria-label="about this entry">
      {question.value ? <About about={question.value} /> : <Waiting question={question} what="Comparing its key" />}
    </div>
  );
}

function ToDo({ advice: { sentence, code } }: { advice: Advice }) {
  const selection = useSelection();
  return (
    <div class="jxs-cc-todo">
      <p>{sentence}</p>
      <div class="jxs-cc-code">
        <pre tabIndex={0}>{code}</pre>
        <IconButton icon="copy" label="Copy the code" onClick={() => void copy(selection, "the code", Promise.resolve(code))} />
      </div>
    </div>
  );
}

/** Why the misses missed, as soon as the kernel has compared their keys. */
function Misses() {
  const { state, value } = useQuestion("compile_cache_misses", {}, readMisses);
  if (state === "waiting") return <p class="jxs-dim">Comparing the keys of the misses…</p>;
  return value ? <p class="jxs-cc-misses">{value}</p> : null;
}

/** Which folder is in use, what is wrong, what the cache did, and what to do. */
export function Head({ cache }: { cache: Cache }) {
  return (
    <div class="jxs-cc-head">
      <p class="jxs-headline jxs-anywhere" title={cache.folder || undefined}>
        <Said text={cache.headline} />
      </p>
      {cache.warnings.map((words) => (
        <p class="jxs-cc-wrong" key={words} title={cache.setFolder || undefined}>
          {words}
        </p>
      ))}
      {cache.sentences.map((words) => (
        <p class="jxs-dim" key={words}>
          {words}
        </p>
      ))}
      <Misses />
      {cache.advice.map((each) => (
        <ToDo advice={each} key={each.code} />
      ))}
    </div>
  );
}

/** A list of so many entries needs no panel of full height. */
const SHORT = 8;

interface Props extends Pick<TabProps, "onFull"> {
  cache: Cache;
  onRefreshed: () => void;
}

function Bar({ cache, query, onQuery, onRefreshed, onFull }: Props & { query: string; onQuery: (query: string) => void }) {
  const questions = useQuestions();
  return (
    <div class="jxs-filter-bar jxs-strip">
      {cache.grid.length > 0 && <FilterBox label="Filter the entries" value={query} onInput={onQuery} />}
      {cache.leftOut > 0 && <span class="jxs-dim">{counted(cache.leftOut)} older entries are not listed</span>}
      <span class="jxs-grow" />
      {onFull && <Message />}
      {!questions.isSaved && <RefreshButton method="compile_cache_refresh" title="Read the cache again" nouns={["entry", "entries"]} none="No new entries." onRefreshed={onRefreshed} />}
      {onFull && <PanelButtons onFull={onFull} />}
    </div>
  );
}

function Body(props: Props) {
  const questions = useQuestions();
  const { cache } = props;
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState("");
  const rows = useMemo(() => matching(cache.grid, query), [cache, query]);
  const isEmpty = !cache.grid.length;
  const layout = isEmpty ? "jxs-cc-empty" : cache.grid.length <= SHORT ? "jxs-cc-short" : "jxs-grow jxs-cc-full";
  return (
    <div class={`jxs-column ${layout}`} style={{ "--jxs-cc-rows": cache.grid.length }}>
      <Head cache={cache} />
      <Bar {...props} query={query} onQuery={setQuery} />
      {!isEmpty && (
        <div class="jxs-cc-body">
          <div class="jxs-cc-list jxs-column">
            {rows.length ? (
              <GridView grid={cache.grid} rows={rows} label="entries of the persistent cache" current={cache.keys.indexOf(chosen)} onPick={(row) => setChosen(cache.keys[row] ?? "")} />
            ) : (
              <p class="jxs-note">{NO_MATCHES}</p>
            )}
          </div>
          {chosen && !questions.isSaved && <Entry entry={chosen} key={chosen} />}
        </div>
      )}
    </div>
  );
}

/** JAX's persistent compilation cache: the folder in use, what it did for this kernel, and its entries. */
export default function CompileCacheView({ onFull }: TabProps) {
  const questions = useQuestions();
  const question = useQuestion("compile_cache", {}, readCache);
  const [last, setLast] = useState(question.value);
  useEffect(() => {
    if (question.value) setLast(question.value);
  }, [question.value]);
  const cache = question.value ?? last;
  const refreshed = () => {
    question.askAgain();
    questions.asked("compile_cache_misses", {}, readMisses).now.askAgain();
  };
  if (!cache) return <Waiting question={question} what="Reading the cache" />;
  return <Body onFull={onFull} cache={cache} onRefreshed={refreshed} />;
}
