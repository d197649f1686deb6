import { useEffect, useState } from "preact/hooks";
import { counted } from "../../../wire/figures";
import type { Params } from "../../../wire/source";
import { type ComparedInspections, type ComparedRow, type ComparedSide, type ComparedValue, readComparison } from "./comparison";
import { DifferenceView } from "./differenceView";
import { type Ask, useAnswer } from "./useAnswer";

const GROUPS: [name: string, title: string][] = [
  ["call", "Call"],
  ["time", "Times"],
  ["size", "Figures of the program, per device"],
  ["option", "Compile options"],
];

function Value({ value }: { value: ComparedValue }) {
  const more = value.reason ?? value.note;
  return (
    <td class={value.isKnown ? "jxs-tabular" : "jxs-dim"} title={more ? `${value.text}\n${more}` : value.text}>
      {value.text}
      {value.reason && <span class="jxs-inspections-compared-why jxs-dim">{value.reason}</span>}
    </td>
  );
}

const changeOf = ({ isSame, difference, ratio }: ComparedRow): string =>
  isSame ? "same" : [difference, ratio].filter(Boolean).join(" · ");

function Row({ row }: { row: ComparedRow }) {
  return (
    <tr data-figure={row.title} class={row.isSame ? "jxs-inspections-compared-same" : ""}>
      <th scope="row" title={row.hint}>
        {row.title}
      </th>
      <Value value={row.before} />
      <Value value={row.after} />
      <td class="jxs-tabular jxs-inspections-compared-change">{changeOf(row)}</td>
    </tr>
  );
}

function SideHead({ side, which, onTarget }: { side: ComparedSide; which: string; onTarget: (target: number) => void }) {
  return (
    <th scope="col" title={`${which}: ${side.title}`}>
      <span class="jxs-dim">{side.label || which} </span>
      <b class="jxs-anywhere">{side.title}</b>
      {side.targets.length > 1 && (
        <select aria-label={`target, ${which}`} value={side.target} onChange={(event) => onTarget(Number((event.target as HTMLSelectElement).value))}>
          {side.targets.map((target, at) => (
            <option value={at} key={at}>
              {target}
            </option>
          ))}
        </select>
      )}
    </th>
  );
}

interface TableProps {
  compared: ComparedInspections;
  onBefore: (target: number) => void;
  onAfter: (target: number) => void;
}

function Figures({ compared, onBefore, onAfter }: TableProps) {
  return (
    <table class="jxs-inspections-compared-table">
      <thead>
        <tr>
          <td />
          <SideHead side={compared.before} which="first" onTarget={onBefore} />
          <SideHead side={compared.after} which="second" onTarget={onAfter} />
          <th scope="col" title="difference and ratio (second − first, second ÷ first), if both are exact">
            change
          </th>
        </tr>
      </thead>
      {GROUPS.map(([group, title]) => {
        const rows = compared.rows.filter((row) => row.group === group);
        return rows.length ? (
          <tbody key={group}>
            <tr class="jxs-inspections-compared-group">
              <th scope="rowgroup" colSpan={4}>
                {title}
              </th>
            </tr>
            {rows.map((row, at) => (
              <Row row={row} key={at} />
            ))}
          </tbody>
        ) : null;
      })}
    </table>
  );
}

function Documents({ ask, pair, compared }: { ask: Ask; pair: Params; compared: ComparedInspections }) {
  const [kind, setKind] = useState("");
  const { documents } = compared;
  if (!documents.length) return <p class="jxs-note">They have no document in common to compare line by line.</p>;
  return (
    <section class="jxs-inspections-compared-text jxs-column">
      <div class="jxs-strip" role="group" aria-label="compare line by line">
        <span class="jxs-dim">Line by line:</span>
        {documents.map((one) => (
          <button
            type="button"
            class="jxs-button jxs-boxed"
            aria-pressed={kind === one.kind}
            onClick={() => setKind(kind === one.kind ? "" : one.kind)}
            key={one.kind}
          >
            {one.title}
          </button>
        ))}
      </div>
      {kind && <DifferenceView ask={ask} params={{ ...pair, doc: kind }} key={kind} />}
    </section>
  );
}

/** Two inspections side by side: `pair` names them to the kernel. */
export function ComparisonView({ ask, pair, onTitle }: { ask: Ask; pair: Params; onTitle: (title: string) => void }) {
  const [targets, setTargets] = useState({ target: 0, other_target: 0 });
  const all = { ...pair, ...targets };
  const { value, problem } = useAnswer(async () => readComparison((await ask("compare", all)).result), [targets.target, targets.other_target]);
  useEffect(() => {
    if (value) onTitle(`${value.before.title} ↔ ${value.after.title}`);
  }, [value]);
  if (problem) return <p class="jxs-note jxs-side-problem" role="alert">{problem}</p>;
  if (!value) return <p class="jxs-note jxs-dim" role="status">Comparing…</p>;
  return (
    <div class="jxs-inspections-compared" data-compared={counted(value.rows.length)}>
      <Figures
        compared={value}
        onBefore={(target) => setTargets((now) => ({ ...now, target }))}
        onAfter={(target) => setTargets((now) => ({ ...now, other_target: target }))}
      />
      <Documents ask={ask} pair={all} compared={value} key={`${targets.target} ${targets.other_target}`} />
    </div>
  );
}
