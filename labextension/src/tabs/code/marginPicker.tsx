import { useEffect } from "preact/hooks";
import { Heat, MEASURES } from "../../model/heat";
import { LEGENDS, Lane } from "../../model/lane";
import { chooseMargin, offeredMargins } from "../../model/margin";
import type { Session } from "../../model/session";
import { useShared } from "../../parts/hooks";
import { useQuestion } from "../../parts/useQuestion";
import { Asking } from "../../parts/asking";

function AskHeat({ session, measure }: { session: Session; measure: string }) {
  const question = useQuestion(session, "heat", { measure }, (reply) => Heat.read(measure, reply));
  useEffect(() => session.store.set({ heat: question.value }), [question.value]);
  return question.value ? null : <Asking question={question} />;
}

function AskLane({ session, measure }: { session: Session; measure: string }) {
  const question = useQuestion(session, "lane", { lane: measure }, Lane.read);
  useEffect(() => session.store.set({ lane: question.value }), [question.value]);
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
export function MarginPicker({ session }: { session: Session }) {
  const chosen = useShared(session, (s) => s.measure);
  useShared(session, (s) => s.call);
  const names = offeredMargins(session);
  if (!names.length) return null;
  const measure = names.includes(chosen) ? chosen : "";
  const pick = (event: Event) => chooseMargin(session, (event.target as HTMLSelectElement).value);
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
      {measure && <Ask session={session} measure={measure} key={`${session.call} ${measure}`} />}
    </span>
  );
}
