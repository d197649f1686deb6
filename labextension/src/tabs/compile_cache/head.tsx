import { copy } from "../../model/actions";
import { IconButton } from "../../parts/icons";
import { type Advice, type Cache, readMisses } from "./read";
import { useQuestion, useSelection } from "../../parts/hooks";

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
        {cache.headline}
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
