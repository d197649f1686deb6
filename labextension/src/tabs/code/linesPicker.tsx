import { useEffect } from "preact/hooks";
import { EVERYTHING } from "../../model/frames";
import type { Session } from "../../model/session";
import { fields } from "../../wire/check";
import { readDocument } from "../../wire/state";
import { useDoc, useShared } from "../../parts/hooks";
import { useQuestion } from "../../parts/useQuestion";
import { Asking } from "../../parts/asking";

function AskLibrary({ session, library }: { session: Session; library: string }) {
  const question = useQuestion(session, "library", { library }, ({ result }) => readDocument(fields(result)));
  useEffect(() => {
    session.store.set({ librarySource: question.value });
  }, [question.value]);
  return question.value ? null : <Asking question={question} />;
}

const HINT =
  "Whose lines an operation is linked to: the innermost of your own, or that of the library, whose source then has a pane too";

/** Chooses whose lines count. Only where operations have frames in a library. */
export function LinesPicker({ session }: { session: Session }) {
  const chosen = useShared(session, (s) => s.library);
  useShared(session, (s) => s.call);
  useDoc(session.doc("python"));
  const libraries = session.frames()?.libraries ?? [];
  if (!libraries.length) return null;
  const library = chosen === EVERYTHING || libraries.includes(chosen) ? chosen : "";
  const pick = (event: Event) => session.countLibrary((event.target as HTMLSelectElement).value);
  return (
    <span class="jxs-heat-picker jxs-lines-picker">
      <label title={HINT}>
        lines of{" "}
        <select value={library} onChange={pick}>
          <option value="">my code</option>
          {libraries.map((name) => (
            <option key={name} value={name}>
              my code and {name}
            </option>
          ))}
          {libraries.length > 1 && <option value={EVERYTHING}>everything</option>}
        </select>
      </label>
      {library && <AskLibrary session={session} library={library} key={`${session.call} ${library}`} />}
    </span>
  );
}
