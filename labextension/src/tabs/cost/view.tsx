import { type Overview, readOverview } from "./read";
import { counted, percent } from "../../wire/figures";
import { CostTable } from "./table";
import { DetailStrip } from "../../parts/detailStrip";
import { useKeptState, usePanel, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { IcicleView } from "./icicleView";
import { Ledger } from "./ledger";
import { RooflineView } from "./rooflineView";
import { Waiting } from "../../parts/waiting";

const SECTIONS: [name: string, title: string, hint: string][] = [
  ["table", "Table", "each instruction, or totals by line, scope, operation"],
  ["icicle", "Icicle", "bytes or FLOPs as tiles within tiles, by scope or by line"],
  ["roofline", "Roofline", "one point per instruction, under the peaks of the target"],
  ["ledger", "Ledger", "the same work as counted on the jaxpr, on the HLO and by XLA"],
];

/** Of the lower bound, what each ceiling takes. */
function Shares({ shares }: { shares: Overview["shares"] }) {
  if (!shares.length) return null;
  const words = shares.map(([kind, share]) => `${kind} ${percent(share, 1)}`).join(", ");
  return (
    <span class="jxs-shares" role="img" aria-label={`share of the lower bound: ${words}`} title={`share of the lower bound: ${words}`}>
      {shares.map(([kind, share]) => (
        <i key={kind} data-bound={kind} style={{ width: `${100 * share}%` }} />
      ))}
    </span>
  );
}

function Totals({ overview }: { overview: Overview }) {
  const { flopsText, bytesText, open, unknown, unknownShare, instructions } = overview;
  return (
    <span class="jxs-cost-totals jxs-tabular">
      <span title="counted on the optimised HLO of one device; loops count once per iteration">
        <span class="jxs-dim">FLOPs</span> <b>{flopsText}</b>
      </span>
      <span title="read and written by all instructions of one device">
        <span class="jxs-dim">bytes</span> <b>{bytesText}</b>
      </span>
      {open && <span class="jxs-dim jxs-anywhere">{open}</span>}
      {unknown > 0 && (
        <span class="jxs-cost-unknown" title="Not in the total: custom calls without a cost estimate count as unknown, not as zero.">
          FLOPs unknown for {counted(unknown)} of {counted(instructions)} instructions, which move {percent(unknownShare, 1)} of the bytes
        </span>
      )}
    </span>
  );
}

function Body({ overview }: { overview: Overview }) {
  const selection = useSelection();
  const [section, choose] = useKeptState("cost section", "table");
  const selected = useSelected((s) => s.selected);
  return (
    <div class="jxs-cost jxs-column">
      <div class="jxs-cost-head jxs-strip" data-bound={overview.bound}>
        <span class="jxs-verdict jxs-anywhere">{overview.verdict}</span>
        <Shares shares={overview.shares} />
        <Totals overview={overview} />
      </div>
      <div class="jxs-cost-sections jxs-strip">
        <span class="jxs-group" role="group" aria-label="shown as">
          {SECTIONS.map(([name, title, hint]) => (
            <button type="button" class="jxs-toggle" key={name} data-section={name} title={hint} aria-pressed={name === section} onClick={() => choose(name)}>
              {title}
            </button>
          ))}
        </span>
        <span class="jxs-grow" />
        <button
          type="button"
          class="jxs-button jxs-boxed"
          disabled={!selected}
          title="Show the selection in the code"
          onClick={() => selected && selection.show(selected.doc, selected.row)}
        >
          Show in the code
        </button>
      </div>
      {section === "table" && <CostTable />}
      {section === "icicle" && <IcicleView />}
      {section === "roofline" && <RooflineView />}
      {section === "ledger" && <Ledger overview={overview} />}
      <DetailStrip />
    </div>
  );
}

/** Of a program that was not compiled, or not yet: the equations of its jaxpr. */
function Uncompiled() {
  const selection = useSelection();
  const panel = usePanel();
  const isCompiling = !panel.isOrphaned && selection.summary?.stages.some(({ name, state }) => name === "compile" && state === "running");
  return (
    <div class="jxs-cost jxs-column">
      <div class="jxs-cost-head jxs-strip" data-bound="unknown">
        <span class="jxs-verdict jxs-anywhere">
          Counted on the jaxpr of the whole program; {isCompiling ? "compiling…" : "there is no optimised HLO, so the bottleneck is unknown."}
        </span>
      </div>
      <CostTable compiled={false} />
      <DetailStrip />
    </div>
  );
}

/** FLOPs and bytes of the program: what bounds it, who spends them, and how sure that is. */
export default function CostView() {
  const selection = useSelection();
  const compiled = selection.summary?.documents.some((document) => document.kind === "hlo") ?? false;
  return compiled ? <Compiled /> : <Uncompiled />;
}

function Compiled() {
  const question = useQuestion<Overview>("ledger", {}, readOverview);
  if (!question.value) return <Waiting question={question} what="Counting FLOPs and bytes" />;
  return <Body overview={question.value} />;
}
