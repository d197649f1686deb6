import { useEffect, useMemo, useState } from "preact/hooks";
import { type Costs, GROUPS, type Group, readGroups, readInstructions } from "../costs";
import { matching } from "../grid";
import { NONE, classOf } from "../links";
import type { Session } from "../session";
import { hover, open, pick } from "./costPick";
import { GridView } from "./gridView";
import { useDoc, useShared } from "./hooks";
import { useLook } from "./look";
import { Waiting } from "./waiting";

const FIRST = { field: "bytes", down: true };

interface ShownProps {
  session: Session;
  costs: Costs;
  group: Group;
  query: string;
}

function Shown({ session, costs, group, query }: ShownProps) {
  const selected = useShared(session, (s) => s.selected);
  const [current, setCurrent] = useState(-1);
  const rows = useMemo(() => matching(costs.grid, query), [costs, query]);
  const hlo = session.doc("hlo");
  useDoc(hlo);
  const lit = session.lit(selected);
  useEffect(() => {
    if (selected && selected.from !== "cost") setCurrent(selected.doc === "hlo" ? costs.row.indexOf(selected.row) : -1);
  }, [selected, costs]);
  const isLit = (row: number) => {
    const at = costs.row[row] ?? -1;
    return at >= 0 && hlo?.rows != null && classOf(lit, hlo.rows, at) !== NONE;
  };
  const choose = (row: number) => {
    setCurrent(row);
    pick(session, costs.row[row] ?? -1, group === "line");
  };
  return (
    <>
      <GridView
        grid={costs.grid}
        rows={rows}
        label={`cost by ${group}`}
        first={FIRST}
        current={current}
        isLit={isLit}
        onPick={choose}
        onOpen={(row) => open(session, costs.row[row] ?? -1, group === "line")}
        onPoint={(row) => hover(session, row < 0 ? -1 : (costs.row[row] ?? -1))}
      />
      {!rows.length && <p class="jxs-note">{costs.grid.length ? "Nothing here has these words." : "The program computes nothing."}</p>}
    </>
  );
}

function Instructions(props: Omit<ShownProps, "costs">) {
  const look = useLook(props.session, "cost", {}, readInstructions);
  return look.value ? <Shown {...props} costs={look.value} /> : <Waiting look={look} what="Listing the instructions" />;
}

function Grouped(props: Omit<ShownProps, "costs">) {
  const look = useLook(props.session, "cost_groups", { group: props.group }, readGroups);
  return look.value ? <Shown {...props} costs={look.value} /> : <Waiting look={look} what="Adding up" />;
}

/** Instructions, or their totals by line, scope, computation, operation or dtype. */
export function CostTable({ session }: { session: Session }) {
  const [group, setGroup] = useState<Group>((session.recall("cost group") as Group | undefined) ?? "line");
  const [query, setQuery] = useState("");
  const choose = (name: Group) => {
    session.keep("cost group", name);
    setGroup(name);
  };
  return (
    <div class="jxs-cost-table">
      <div class="jxs-cost-bar">
        <span class="jxs-group" role="group" aria-label="one row for each">
          {GROUPS.map(([name, title]) => (
            <button type="button" class="jxs-toggle" key={name} data-group={name} aria-pressed={name === group} onClick={() => choose(name)}>
              {title}
            </button>
          ))}
        </span>
        <input
          type="search"
          spellcheck={false}
          placeholder="Filter"
          aria-label="Filter the table"
          value={query}
          onInput={(event) => setQuery((event.target as HTMLInputElement).value)}
        />
      </div>
      {group === "instruction" ? (
        <Instructions session={session} group={group} query={query} key={group} />
      ) : (
        <Grouped session={session} group={group} query={query} key={group} />
      )}
    </div>
  );
}
