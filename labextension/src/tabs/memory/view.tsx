import { counted } from "../../wire/figures";
import { useEffect, useMemo, useState } from "preact/hooks";
import { STRONG, classOf } from "../../model/links";
import { type Memory, type Space, type Table, bytes, EMPTY, lineOf, readMemory, readWritten } from "./read";
import { byName, list, number, text } from "../../wire/check";
import { partOf } from "../../wire/texts";
import type { Reply } from "../../wire/source";
import { textAt } from "../../wire/tables";
import { MemoryChart } from "./chart";
import { MemoryTable } from "./table";
import { Waiting } from "../../parts/waiting";
import type { Documents } from "../../model/documents";
import type { Selection } from "../../model/selection";
import { useDoc, useDocuments, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";

const PARTS: [name: string, title: string, hint: string][] = [
  ["at", "Live buffers", "buffers that are live at the chosen position, largest first"],
  ["advice", "Suggestions", "memory that could be saved, and how"],
  ["arguments", "Arguments", "size, donation, and whether it was used"],
  ["results", "Results", "size, and whose memory each reuses"],
  ["constants", "Constants", "arrays captured by the function"],
  ["backward", "Backward pass", "residuals, by line and by checkpoint policy"],
  ["checks", "XLA's figures", "these figures next to XLA's own"],
];
const DOC = "hlo";
const MOST_POLICIES = 100;

/** Selects in all views what made a row: its HLO instruction; without one its source line ("In [3]:12"). */
function choose(documents: Documents, selection: Selection, place: number, line: string): void {
  if (place >= 0) return selection.select(DOC, place, "memory");
  const [, file, number] = /^(.*):(\d+)$/.exec(line) ?? [];
  const at = documents.frames()?.files.findIndex((f) => f.name === file || f.label === file) ?? -1;
  const row = at >= 0 ? documents.sourceRow(at, Number(number)) : -1;
  if (row >= 0) selection.select("python", row, "memory");
}

/** Rows of the HLO document that came from what is selected. */
function useLit(): (row: number) => boolean {
  const documents = useDocuments();
  const selected = useSelected((s) => s.selected);
  const hlo = documents.doc(DOC);
  useDoc(hlo);
  const lit = documents.lit(selected);
  const rows = hlo?.rows ?? null;
  return useMemo(() => (row: number) => row >= 0 && rows !== null && classOf(lit, rows, row) === STRONG, [lit, rows]);
}

export const readAt = async (reply: Reply): Promise<{ live: number; table: Table }> => ({
  live: number(reply.result.live) ?? 0,
  table: await part(reply, "table"),
});

const part = (reply: Reply, name: string): Promise<Table> => readWritten(partOf(reply, reply.result[name]));

interface Moment {
  memory: Memory;
  space: Space;
  position: number;
  isLit: (row: number) => boolean;
  onBand: (band: [number, number] | null) => void;
}

function Lives({ memory, space, position, isLit, onBand }: Moment) {
  const documents = useDocuments();
  const selection = useSelection();
  const question = useQuestion("memory at", { space: space.color, position }, readAt);
  const [shown, setShown] = useState(question.value);
  useEffect(() => {
    if (question.value) setShown(question.value);
  }, [question.value]);
  if (!shown) return <Waiting question={question} what="Reading the live buffers" />;
  const { table } = shown;
  const lit = new Set([...table.row.keys()].filter((row) => isLit(table.row[row] as number)));
  const step = memory.steps[position];
  return (
    <>
      <p class="jxs-mem-moment">
        <b>{bytes(shown.live)}</b> of {space.name} live at {counted(position)}
        {step && (
          <>
            , while <code>{step}</code> runs
          </>
        )}
        {position === space.position && <span class="jxs-mem-peak"> the peak</span>}
      </p>
      <MemoryTable
        table={table}
        label="live buffers"
        lit={lit}
        onHover={(row) => onBand(row === null || (table.from[row] ?? -1) < 0 ? null : [table.from[row] as number, table.to[row] as number])}
        onRow={(row) => choose(documents, selection, table.row[row] ?? -1, textAt(table.grid, "line", row))}
      />
    </>
  );
}

interface Policies {
  policies: Table;
  compiled: boolean[];
}

const readPolicies = async (reply: Reply): Promise<Policies> => ({
  policies: await part(reply, "policies"),
  compiled: list(reply.result.compiled, MOST_POLICIES).map((one) => one === true),
});

export const readTrial = async (reply: Reply) => ({ ...(await readPolicies(reply)), text: text(reply.result.text) });

export const readKept = async (reply: Reply) => ({
  ...(await readPolicies(reply)),
  lines: await part(reply, "lines"),
  arrays: await part(reply, "arrays"),
});

/** The program compiled with a checkpoint policy: what it takes, once that is known. */
function Trial({ policy, onKnown }: { policy: string; onKnown: (known: Policies) => void }) {
  const question = useQuestion("policy", { policy }, readTrial);
  useEffect(() => {
    if (question.value) onKnown(question.value);
  }, [question.value]);
  if (!question.value) return <Waiting question={question} what={`Compiling with ${policy}`} />;
  return <p class="jxs-note"><Said text={question.value.text} /></p>;
}

function Backward() {
  const documents = useDocuments();
  const selection = useSelection();
  const [policy, setPolicy] = useState("");
  const question = useQuestion("kept", { policy }, readKept);
  const [tried, compile] = useKeptState(`memory policy ${selection.call}`, "");
  const [trials, setTrials] = useState<Policies | null>(null);
  if (!question.value) return <Waiting question={question} what="Reading the residuals of the backward pass" />;
  const { lines, arrays } = question.value;
  const { policies, compiled } = trials ?? question.value;
  const names = Array.from({ length: policies.grid.length }, (_, row) => textAt(policies.grid, "policy", row));
  return (
    <div class="jxs-mem-backward">
      <div>
        <h4>Under jax.checkpoint</h4>
        <div class="jxs-mem-policies jxs-strip" role="group" aria-label="compile with a policy">
          {names.map((name, row) =>
            row > 0 && !compiled[row] ? (
              <button type="button" class="jxs-button jxs-boxed" key={name} data-policy={name} title="its peak and FLOPs" onClick={() => compile(name)}>
                Compile with {name}
              </button>
            ) : null,
          )}
        </div>
        {tried && <Trial policy={tried} onKnown={setTrials} key={tried} />}
        <MemoryTable
          table={policies}
          label="checkpoint policies"
          onRow={(row) => setPolicy(row === 0 ? "" : (names[row] ?? ""))}
        />
      </div>
      <div>
        <h4>Residuals, by line{policy && `, with ${policy}`}</h4>
        <MemoryTable table={lines} label="bytes by line" onRow={(row) => choose(documents, selection, -1, textAt(lines.grid, "line", row))} />
        <h4>Arrays</h4>
        <MemoryTable table={arrays} label="arrays" onRow={(row) => choose(documents, selection, -1, textAt(arrays.grid, "line", row))} />
      </div>
    </div>
  );
}

/** A table as it is; rows with a source line select it. */
function Listed({ table = EMPTY, label }: { table?: Table | undefined; label: string }) {
  const documents = useDocuments();
  const selection = useSelection();
  const hasLine = table.grid.fields.some(({ name }) => name === "line");
  const onRow = hasLine ? { onRow: (row: number) => choose(documents, selection, -1, textAt(table.grid, "line", row)) } : {};
  return <MemoryTable table={table} label={label} {...onRow} />;
}

export const readAdvice = (reply: Reply): Promise<Table> => part(reply, "advice");

function Donated({ names }: { names: string }) {
  const question = useQuestion("donation", {}, readAdvice);
  if (!question.value) return <Waiting question={question} what={`Compiling with ${names} donated`} />;
  return <Listed table={question.value} label="advice" />;
}

/** What could be saved; what donating saves is compiled when somebody asks. */
function Suggestions({ memory }: { memory: Memory }) {
  const selection = useSelection();
  const [isAsked, setAsked] = useKeptState(`memory donation ${selection.call}`, false);
  const names = memory.donate.join(", ");
  if (isAsked && names) return <Donated names={names} />;
  return (
    <>
      {names && (
        <div class="jxs-mem-policies jxs-strip">
          <button type="button" class="jxs-button jxs-boxed" data-donate title="what it needs and moves then" onClick={() => setAsked(true)}>
            Compile with {names} donated
          </button>
        </div>
      )}
      <Listed table={memory.tables.advice} label="advice" />
    </>
  );
}

/** How many of XLA's own figures are others. */
function differing(checks: Table | undefined): number {
  return checks ? [...Array(checks.grid.length).keys()].filter((row) => textAt(checks.grid, "note", row)).length : 0;
}

const MARKS = byName<string>({ yes: "✓", "only with a setting": "!", no: "✕" });

function Headline({ memory }: { memory: Memory }) {
  return (
    <p class="jxs-mem-fit" data-answer={memory.answer} role="status">
      <span aria-hidden="true">{MARKS[memory.answer] ?? "?"}</span> <Said text={memory.text} />
    </p>
  );
}

function Browser({ memory }: { memory: Memory }) {
  const documents = useDocuments();
  const selection = useSelection();
  const [part, open] = useKeptState(`memory part ${selection.call}`, "at");
  const [color, setColor] = useKeptState(`memory space ${selection.call}`, 0);
  const space = memory.spaces.find((one) => one.color === color) ?? memory.spaces[0];
  const [position, go] = useKeptState(`memory position ${selection.call}`, space?.position ?? 0);
  const [band, setBand] = useState<[number, number] | null>(null);
  const isLit = useLit();
  const lit = useMemo(() => {
    const { row, space: spaces } = memory.buffers;
    const found: number[] = [];
    row.forEach((at, i) => spaces[i] === color && isLit(at) && found.push(i));
    return found;
  }, [memory, color, isLit]);
  if (!space) return <p class="jxs-note">This program allocates no memory.</p>;
  const pickSpace = (to: Space) => {
    setColor(to.color);
    go(to.position);
  };
  const differ = differing(memory.tables.checks);
  const pickBuffer = (buffer: number) => choose(documents, selection, memory.buffers.row[buffer] ?? -1, lineOf(memory, buffer));
  return (
    <div class="jxs-memory jxs-column">
      <Headline memory={memory} />
      {memory.notes.map((note) => (
        <p class="jxs-note" key={note}>
          <Said text={note} />
        </p>
      ))}
      <div class="jxs-mem-spaces jxs-strip" role="group" aria-label="memories">
        {memory.spaces.map((one) => (
          <button
            type="button"
            class="jxs-toggle"
            key={one.color}
            data-space={one.color}
            aria-pressed={one.color === color}
            title={`${bytes(one.reserved)} reserved, ${bytes(one.peak)} peak`}
            onClick={() => pickSpace(one)}
          >
            {one.name} {bytes(one.peak)}
          </button>
        ))}
        <button type="button" class="jxs-button jxs-boxed" disabled={position === space.position} onClick={() => go(space.position)}>
          Go to the peak
        </button>
        {memory.total > memory.buffers.start.length && (
          <span class="jxs-dim">showing the {counted(memory.buffers.start.length)} largest buffers</span>
        )}
      </div>
      <MemoryChart
        memory={memory}
        space={space}
        position={Math.min(position, Math.max(0, memory.length - 1))}
        band={band}
        lit={lit}
        onPosition={(to) => {
          go(to);
          open("at");
        }}
        onBuffer={pickBuffer}
      />
      <div class="jxs-mem-parts jxs-strip" role="group" aria-label="tables">
        {PARTS.map(([name, title, hint]) => (
          <button type="button" class="jxs-toggle" key={name} data-part={name} title={hint} aria-pressed={name === part} onClick={() => open(name)}>
            {title}
            {name === "checks" && differ > 0 && <b class="jxs-mem-differ"> ({differ === 1 ? "1 differs" : `${differ} differ`})</b>}
          </button>
        ))}
      </div>
      <div class="jxs-mem-part">
        {part === "at" && <Lives memory={memory} space={space} position={position} isLit={isLit} onBand={setBand} />}
        {part === "backward" && <Backward />}
        {part === "advice" && <Suggestions memory={memory} />}
        {part !== "at" && part !== "advice" && part !== "backward" && <Listed table={memory.tables[part]} label={part} />}
      </div>
    </div>
  );
}

/** Memory over the schedule: what lives when, does it fit, and what could be changed. */
export default function MemoryView() {
  const selection = useSelection();
  const question = useQuestion("memory", {}, readMemory);
  if (!question.value) return <Waiting question={question} what="Recompiling for the buffer assignment" />;
  return <Browser memory={question.value} key={selection.call} />;
}
