import { useEffect } from "preact/hooks";
import { Heat, MEASURES } from "../../model/heat";
import { LANES, LEGENDS, Lane } from "../../model/lane";
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

/** The tab that a call has where it has such a lane. */
const TABS = { sharding: "shardings", dtypes: "dtypes", time: "timeline" };

/** What may stand beside the lines of this call. */
function offered(session: Session): string[] {
  const views = session.summary?.views ?? [];
  const lanes = LANES.filter((name) => views.includes(TABS[name]));
  return [...(views.includes("cost") ? MEASURES : []), ...lanes];
}

const HINT =
  "Beside each line: its share of the program's cost, the sharding of its values, where a dtype changes, or its measured time";

/** What stands beside the lines; until something is chosen the kernel is asked for nothing. */
export function MarginPicker({ session }: { session: Session }) {
  const chosen = useShared(session, (s) => s.measure);
  useShared(session, (s) => s.call);
  const names = offered(session);
  if (!names.length) return null;
  const measure = names.includes(chosen) ? chosen : "";
  const pick = (event: Event) =>
    session.store.set({ measure: (event.target as HTMLSelectElement).value, heat: null, lane: null });
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
