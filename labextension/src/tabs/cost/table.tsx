import { counted } from "../../wire/figures";
import { useState } from "preact/hooks";
import { type Costs, GROUPS, type Group, readGroups, readInstructions, readMembers } from "./read";
import { EQUATION_GROUPS, type EquationGroup, readEquationGroups, readEquations } from "./equations";
import { FilterBox } from "../../parts/filter";
import { AS_GIVEN } from "../../parts/grid/gridView";
import { cellText } from "../../parts/grid/sort";
import { CostGrid } from "./grid";
import { Waiting } from "../../parts/waiting";
import { useKeptState, useQuestion, useSelection } from "../../parts/hooks";

const BYTES = { field: "bytes", down: true };
const FLOPS = { field: "flops", down: true };
const NOTHING = "The program computes nothing.";
const HOLDS_OTHERS = ["fusion", "while", "call", "conditional", "async-start"];

interface Props {
  query: string;
}

/** What the instruction holds, beneath the table. */
function Members({ name }: { name: string }) {
  const question = useQuestion("members", { instruction: name }, readMembers);
  return (
    <div class="jxs-members jxs-grow jxs-column">
      <p class="jxs-members-note">
        Inside <code>{name}</code>
        {question.value && `: ${counted(question.value.grid.length)} instructions; inside a fusion, only inputs and outputs move bytes`}
      </p>
      {question.value ? (
        <CostGrid costs={question.value} doc="hlo" label={`members of ${name}`} first={AS_GIVEN} nothing="No computation inside." />
      ) : (
        <Waiting question={question} what="Listing what is inside" />
      )}
    </div>
  );
}

const textOf = (costs: Costs, name: string, row: number) => {
  const field = costs.grid.fields.find((field) => field.name === name);
  return field && row >= 0 ? cellText(field, row) : "";
};

function Instructions({ query }: Props) {
  const question = useQuestion("cost", {}, readInstructions);
  const [current, setCurrent] = useState(-1);
  const [shown, setShown] = useKeptState("cost members", false);
  if (!question.value) return <Waiting question={question} what="Listing the instructions" />;
  const holds = HOLDS_OTHERS.includes(textOf(question.value, "opcode", current));
  const name = textOf(question.value, "instruction", current);
  const toggle = () => setShown(!shown);
  return (
    <>
      <CostGrid costs={question.value} doc="hlo" label="cost by instruction" query={query} first={BYTES} nothing={NOTHING} onCurrent={setCurrent} />
      {holds && (
        <button type="button" class="jxs-members-toggle jxs-cut" aria-expanded={shown} onClick={toggle}>
          {shown ? "▾" : "▸"} {shown ? "Hide" : "Show"} what is inside {name}
        </button>
      )}
      {holds && shown && <Members name={name} key={name} />}
    </>
  );
}

function Grouped({ query, group }: Props & { group: Group }) {
  const question = useQuestion("cost_groups", { group }, readGroups);
  if (!question.value) return <Waiting question={question} what="Summing" />;
  return <CostGrid costs={question.value} doc="hlo" label={`cost by ${group}`} ofLine={group === "line"} query={query} first={BYTES} nothing={NOTHING} />;
}

function Equations({ query }: Props) {
  const question = useQuestion("equations", {}, readEquations);
  if (!question.value) return <Waiting question={question} what="Counting the equations" />;
  return (
    <>
      {question.value.notes.map((note) => (
        <p class="jxs-note" key={note}>
          {note}
        </p>
      ))}
      <CostGrid costs={question.value} doc="jaxpr" label="cost by equation" query={query} first={FLOPS} nothing={NOTHING} />
    </>
  );
}

function EquationsGrouped({ query, group }: Props & { group: EquationGroup }) {
  const question = useQuestion("equation_groups", { group }, readEquationGroups);
  if (!question.value) return <Waiting question={question} what="Summing" />;
  return <CostGrid costs={question.value} doc="jaxpr" label={`jaxpr cost by ${group}`} ofLine={group === "line"} query={query} first={FLOPS} nothing={NOTHING} />;
}

type Choice = readonly [name: string, title: string, hint?: string];
const SOURCES: Choice[] = [
  ["hlo", "HLO", "the optimised HLO of one device: what runs"],
  ["jaxpr", "jaxpr", "the jaxpr of the whole program, before compilation; bytes as if each equation ran alone"],
];

function Choices({ label, name, all, now, onChoose }: { label: string; name: string; all: readonly Choice[]; now: string; onChoose: (name: string) => void }) {
  return (
    <span class="jxs-group" role="group" aria-label={label}>
      {all.map(([choice, title, hint]) => (
        <button
          type="button"
          class="jxs-toggle"
          key={choice}
          {...{ [`data-${name}`]: choice }}
          title={hint}
          aria-pressed={choice === now}
          onClick={() => onChoose(choice)}
        >
          {title}
        </button>
      ))}
    </span>
  );
}

function Rows({ source, group, query }: Props & { source: string; group: string }) {
  if (source === "jaxpr") {
    if (group === "equation") return <Equations query={query} />;
    return <EquationsGrouped group={group as EquationGroup} query={query} />;
  }
  if (group === "instruction") return <Instructions query={query} />;
  return <Grouped group={group as Group} query={query} />;
}

/** Instructions of the HLO or equations of the jaxpr, or their totals by line, scope, computation, operation or dtype. */
export function CostTable({ compiled = true }: { compiled?: boolean }) {
  const selection = useSelection();
  const [chosen, setSource] = useKeptState("cost source", "hlo");
  const [wanted, setGroup] = useKeptState("cost group", "line");
  const [query, setQuery] = useState("");
  const isBoth = compiled && Boolean(selection.summary?.documents.some(({ kind }) => kind === "jaxpr"));
  const source = isBoth ? chosen : compiled ? "hlo" : "jaxpr";
  const groups: readonly Choice[] = source === "jaxpr" ? EQUATION_GROUPS : GROUPS;
  const group = groups.some(([name]) => name === wanted) ? wanted : "line";
  return (
    <div class="jxs-cost-table jxs-grow jxs-column">
      <div class="jxs-filter-bar jxs-strip jxs-cost-bar">
        {isBoth && (
          <>
            <span class="jxs-dim">counted on</span>
            <Choices label="counted on" name="source" all={SOURCES} now={source} onChoose={setSource} />
          </>
        )}
        <Choices label="group by" name="group" all={groups} now={group} onChoose={setGroup} />
        <FilterBox label="Filter the table" value={query} onInput={setQuery} />
      </div>
      <Rows source={source} group={group} query={query} key={`${source} ${group}`} />
    </div>
  );
}
