import { Message, PanelButtons } from "../../parts/buttons";
import { FilterBox } from "../../parts/filter";
import { RefreshButton } from "../../parts/refreshButton";
import type { Compiles } from "./read";
import type { Choice } from "./rows";
import { useQuestions } from "../../parts/hooks";

const TOGGLES: [name: keyof Choice, title: string, hint: string][] = [
  ["recompiles", "Recompiles only", "List only functions that had been compiled before"],
  ["mendable", "Avoidable only", "List only what a change of your code avoids"],
  ["mine", "Mine only", "Leave out what JAXStage itself compiled"],
  ["folded", "Eager folded", "One row for the eager operations of a line, such as jnp.ones outside jax.jit"],
];

interface Props {
  compiles: Compiles;
  choice: Choice;
  query: string;
  onChoice: (choice: Choice) => void;
  onQuery: (query: string) => void;
  onRefreshed: () => void;
  onFull: (() => void) | null;
}

export function Toolbar({ compiles, choice, query, onChoice, onQuery, onRefreshed, onFull }: Props) {
  const questions = useQuestions();
  const toggles = compiles.scope ? [["scope", `${compiles.scope} only`, `List only what ${compiles.scope} compiled, not the rest of the kernel's log`] as (typeof TOGGLES)[number], ...TOGGLES] : TOGGLES;
  return (
    <div class="jxs-filter-bar jxs-strip jxs-co-bar">
      <FilterBox label="Filter the compiles" placeholder="Filter by function, line, cause" value={query} onInput={onQuery} />
      <span class="jxs-group" role="group" aria-label="which compiles">
        {toggles.map(([name, title, hint]) => (
          <button
            type="button"
            class="jxs-toggle"
            key={name}
            data-toggle={name}
            title={hint}
            aria-pressed={choice[name]}
            onClick={() => onChoice({ ...choice, [name]: !choice[name] })}
          >
            {title}
          </button>
        ))}
      </span>
      <span class="jxs-grow" />
      {onFull && <Message />}
      {compiles.canRefresh && !questions.isSaved && <RefreshButton method="compiles_refresh" title="Refresh: show newer compiles" nouns={["record", "records"]} none="Nothing was compiled since." onRefreshed={onRefreshed} />}
      {onFull && <PanelButtons onFull={onFull} />}
    </div>
  );
}
