import { useEffect, useMemo, useState } from "preact/hooks";
import { Message, PanelButtons } from "../../parts/buttons";
import { FilterBox, NO_MATCHES } from "../../parts/filter";
import { GridView } from "../../parts/grid/gridView";
import { matching } from "../../parts/grid/sort";
import { Waiting } from "../../parts/waiting";
import { counted } from "../../wire/figures";
import type { TabProps } from "../tab";
import { Entry } from "./entry";
import { Head } from "./head";
import { type Cache, readCache, readMisses } from "./read";
import { RefreshCache } from "./refresh";
import { useQuestion, useQuestions } from "../../parts/hooks";

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
      {!questions.isSaved && <RefreshCache onRefreshed={onRefreshed} />}
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
