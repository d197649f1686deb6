import { useEffect } from "preact/hooks";
import { EVERYTHING } from "../../model/frames";
import { fields } from "../../wire/check";
import { readDocument } from "../../wire/state";
import { useDoc, useDocuments, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Asking } from "../../parts/asking";

function AskLibrary({ library }: { library: string }) {
  const selection = useSelection();
  const question = useQuestion("library", { library }, ({ result }) => readDocument(fields(result)));
  useEffect(() => {
    selection.set({ librarySource: question.value });
  }, [question.value]);
  return question.value ? null : <Asking question={question} />;
}

const HINT =
  "Whose lines an operation is linked to: the innermost of your own, or that of the library, whose source then has a pane too";

/** Chooses whose lines count. Only where operations have frames in a library. */
export function LinesPicker() {
  const documents = useDocuments();
  const selection = useSelection();
  const chosen = useSelected((s) => s.library);
  useDoc(documents.doc("python"));
  const libraries = documents.frames()?.libraries ?? [];
  if (!libraries.length) return null;
  const library = chosen === EVERYTHING || libraries.includes(chosen) ? chosen : "";
  const pick = (event: Event) => documents.countLibrary((event.target as HTMLSelectElement).value);
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
      {library && <AskLibrary library={library} key={`${selection.call} ${library}`} />}
    </span>
  );
}
