import { useEffect } from "preact/hooks";
import { Heat, MEASURES } from "../../model/heat";
import { LEGENDS, Lane } from "../../model/lane";
import { chooseMargin, offeredMargins } from "../../model/margin";
import { useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Asking } from "../../parts/asking";

function AskHeat({ measure }: { measure: string }) {
  const selection = useSelection();
  const question = useQuestion("heat", { measure }, (reply) => Heat.read(measure, reply));
  useEffect(() => selection.set({ heat: question.value }), [question.value]);
  return question.value ? null : <Asking question={question} />;
}

function AskLane({ measure }: { measure: string }) {
  const selection = useSelection();
  const question = useQuestion("lane", { lane: measure }, Lane.read);
  useEffect(() => selection.set({ lane: question.value }), [question.value]);
  if (!question.value) return <Asking question={question} />;
  const [note] = question.value.notes;
  return (
    <>
      <span>{LEGENDS[measure]}</span>
      {note && (
        <span class="jxs-asking-why jxs-cut" role="alert" title={note}>
          {note}
        </span>
      )}
    </>
  );
}

const HINT =
  "Beside each line: its share of the program's cost, the sharding of its values, where a dtype changes, or its measured time";

/** What stands beside the lines; until something is chosen the kernel is asked for nothing. */
export function MarginPicker() {
  const selection = useSelection();
  const chosen = useSelected((s) => s.measure);
  const names = offeredMargins(selection);
  if (!names.length) return null;
  const measure = names.includes(chosen) ? chosen : "";
  const pick = (event: Event) => chooseMargin(selection, (event.target as HTMLSelectElement).value);
  const Ask = MEASURES.some((name) => name === measure) ? AskHeat : AskLane;
  return (
    <span class="jxs-heat-picker">
      <label title={HINT}>
        annotate lines{" "}
        <select value={measure} onChange={pick}>
          <option value="">none</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {measure && <Ask measure={measure} key={`${selection.call} ${measure}`} />}
    </span>
  );
}
