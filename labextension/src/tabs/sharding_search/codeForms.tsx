import { copy } from "../../model/actions";
import { useKeptState, useSelection } from "../../parts/hooks";
import { IconButton } from "../../parts/icons";
import type { About } from "./read";

/** The layout as code, in the form that is chosen. */
export function CodeForms({ code }: Pick<About, "code">) {
  const selection = useSelection();
  const [form, choose] = useKeptState("layout code", code[0]?.form ?? "");
  const shown = code.find((one) => one.form === form) ?? code[0];
  if (!shown) return null;
  return (
    <div class="jxs-ss-code">
      <div class="jxs-strip" role="group" aria-label="forms of the code">
        <b>As code</b>
        {code.map((one) => (
          <button type="button" class="jxs-toggle" aria-pressed={one === shown} onClick={() => choose(one.form)} key={one.form}>
            {one.form}
          </button>
        ))}
      </div>
      <div class="jxs-ss-pasted">
        <pre tabIndex={0} aria-label={shown.form}>
          {shown.text}
        </pre>
        <IconButton icon="copy" label="Copy the code" onClick={() => void copy(selection, shown.form, Promise.resolve(shown.text))} />
      </div>
    </div>
  );
}
