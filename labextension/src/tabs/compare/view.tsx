import { useMemo, useState } from "preact/hooks";
import type { Session } from "../../model/session";
import { GridView } from "../../parts/grid/gridView";
import { useKernelState, useShared } from "../../parts/hooks";
import { type Compare, gridOf, readCompare } from "./read";

const ROW_PX = 25;
const LEGEND = "▲ best, ▼ worst of the known values. Figures are per device. Click a target, or press Enter, to open its code.";

/** The table, which the first of the call's targets holds, and the number of that one's call. */
function comparisonOf(session: Session): { table: Compare; first: number } | null {
  const own = readCompare(session.summary?.compare);
  if (!own) return null;
  const first = session.call - own.row;
  const table = readCompare(session.state.calls[first]?.compare);
  return table?.rows.length ? { table, first } : null;
}

function Targets({ session, table, first }: { session: Session; table: Compare; first: number }) {
  const call = useShared(session, () => session.call);
  const [about, setAbout] = useState("");
  const grid = useMemo(() => gridOf(table), [table]);
  const open = (row: number) => {
    session.pickCall(first + row);
    session.store.set({ view: "code" });
  };
  const attributes = (row: number) => {
    const { target = "", device = "" } = table.rows[row] ?? {};
    return { "data-target": target, title: `${target}: ${device}`, "aria-current": first + row === call ? "true" : undefined };
  };
  return (
    <div class="jxs-compare jxs-column">
      <div class="jxs-compare-scroll jxs-column">
        <GridView
          grid={grid}
          label="the call's targets"
          height={ROW_PX}
          isLined
          current={call - first}
          rowClass={() => "jxs-compared"}
          rowAttributes={attributes}
          problem={(row) => table.rows[row]?.error ?? null}
          onPick={open}
          onAbout={setAbout}
        />
      </div>
      <p class="jxs-compare-why jxs-anywhere">{about || LEGEND}</p>
    </div>
  );
}

export default function CompareView({ session }: { session: Session }) {
  useKernelState(session);
  useShared(session, (s) => s.call);
  const compared = useMemo(() => comparisonOf(session), [session.state, session.call]);
  if (!compared) return <p class="jxs-note">Nothing to compare.</p>;
  return <Targets session={session} {...compared} />;
}
