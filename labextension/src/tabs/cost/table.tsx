import { counted } from "../../wire/figures";
import { useState } from "preact/hooks";
import { type Costs, EQUATION_GROUPS, GROUPS, readCosts } from "./read";
import { FilterBox } from "../../parts/filter";
import { AS_GIVEN } from "../../parts/grid/gridView";
import { cellText } from "../../parts/grid/sort";
import { CostGrid } from "./grid";
import { Waiting } from "../../parts/waiting";
import { useKeptState, useQuestion, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";

const BYTES = { field: "bytes", down: true };
const FLOPS = { field: "FLOPs", down: true };
const NOTHING = "The program computes nothing.";
const HOLDS_OTHERS = ["fusion", "while", "call", "conditional", "async-start"];

interface Props {
  query: string;
}

/** What the instruction holds, beneath the table. */
function Members({ name }: { name: string }) {
  const question = useQuestion("members", { instruction: name }, readCosts);
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
  const question = useQuestion("cost", {}, readCosts);
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

interface GroupedProps extends Props {
  group: string;
  /** The request, and the document whose rows are counted. */
  method: string;
  doc: string;
}

function Grouped({ query, group, method, doc }: GroupedProps) {
  const question = useQuestion(method, { group }, readCosts);
  if (!question.value) return <Waiting question={question} what="Summing" />;
  const [label, first] = doc === "hlo" ? [`cost by ${group}`, BYTES] : [`jaxpr cost by ${group}`, FLOPS];
  return <CostGrid costs={question.value} doc={doc} label={label} ofLine={group === "line"} query={query} first={first} nothing={NOTHING} />;
}

function Equations({ query }: Props) {
  const question = useQuestion("equations", {}, readCosts);
  if (!question.value) return <Waiting question={question} what="Counting the equations" />;
  return (
    <>
      {question.value.notes.map((note) => (
        <p class="jxs-note" key={note}>
          <Said text={note} />
        </p>
      ))}
      <CostGrid costs={question.value} doc="jaxpr" label="cost by equation" query={query} first={FLOPS} nothing={NOTHING} />
    </>
  );
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
  if (group === "equation") return <Equations query={query} />;
  if (group === "instruction") return <Instructions query={query} />;
  const [method, doc] = source === "jaxpr" ? ["equation_groups", "jaxpr"] : ["cost_groups", "hlo"];
  return <Grouped group={group} method={method} doc={doc} query={query} />;
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
