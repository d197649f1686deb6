import { copy } from "../../model/actions";
import type { Session } from "../../model/session";
import { IconButton } from "../../parts/icons";
import { useQuestion } from "../../parts/useQuestion";
import { type Advice, type Cache, readMisses } from "./read";

function ToDo({ session, advice: { sentence, code } }: { session: Session; advice: Advice }) {
  return (
    <div class="jxs-cc-todo">
      <p>{sentence}</p>
      <div class="jxs-cc-code">
        <pre tabIndex={0}>{code}</pre>
        <IconButton icon="copy" label="Copy the code" onClick={() => void copy(session, "the code", Promise.resolve(code))} />
      </div>
    </div>
  );
}

/** Why the misses missed, as soon as the kernel has compared their keys. */
function Misses({ session }: { session: Session }) {
  const { state, value } = useQuestion(session, "compile_cache_misses", {}, readMisses);
  if (state === "waiting") return <p class="jxs-dim">Comparing the keys of the misses…</p>;
  return value ? <p class="jxs-cc-misses">{value}</p> : null;
}

/** Which folder is in use, what is wrong, what the cache did, and what to do. */
export function Head({ session, cache }: { session: Session; cache: Cache }) {
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
      <Misses session={session} />
      {cache.advice.map((each) => (
        <ToDo session={session} advice={each} key={each.code} />
      ))}
    </div>
  );
}
