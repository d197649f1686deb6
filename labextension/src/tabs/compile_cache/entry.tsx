import { Waiting } from "../../parts/waiting";
import { type EntryAbout, readEntry } from "./read";
import { useQuestion } from "../../parts/hooks";

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
export function Entry({ entry }: { entry: string }) {
  const question = useQuestion("compile_cache_entry", { key: entry }, readEntry);
  return (
    <div class="jxs-cc-entry" role="region" aria-label="about this entry">
      {question.value ? <About about={question.value} /> : <Waiting question={question} what="Comparing its key" />}
    </div>
  );
}
