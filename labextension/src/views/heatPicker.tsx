import { useEffect } from "preact/hooks";
import { Heat, MEASURES } from "../heat";
import type { Session } from "../session";
import { useShared } from "./hooks";
import { useLook } from "./look";

function Ask({ session, measure }: { session: Session; measure: string }) {
  const look = useLook(session, "heat", { measure }, (reply) => Heat.read(measure, reply));
  useEffect(() => session.store.set({ heat: look.value }), [look.value]);
  if (look.value) return null;
  return look.state === "waiting" ? <i class="jxs-spinner" /> : <span role="alert">{look.problem || "stopped"}</span>;
}

/** Which measure stands beside the lines; until one is chosen the kernel is asked for none. */
export function HeatPicker({ session }: { session: Session }) {
  const measure = useShared(session, (s) => s.measure);
  useShared(session, (s) => s.call);
  if (!session.summary?.views.includes("cost")) return null;
  return (
    <label class="jxs-heat-picker" title="A bar beside each line of HLO and of source: its share of the program's cost">
      heat{" "}
      <select value={measure} onChange={(e) => session.store.set({ measure: (e.target as HTMLSelectElement).value, heat: null })}>
        <option value="">off</option>
        {MEASURES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {measure && <Ask session={session} measure={measure} key={`${session.call} ${measure}`} />}
    </label>
  );
}
