import { useEffect } from "preact/hooks";
import {
  FIRST_STAGES,
  type Kernel,
  type KernelTable,
  kernelAt,
  kernelOfLit,
  litKernels,
  readFigures,
  readInfo,
  readKernels,
  rowOf,
} from "./read";
import { useDoc, useDocuments, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { KernelList } from "./list";
import { Pane } from "../../parts/pane";
import { Waiting } from "../../parts/waiting";
import { addLanguages } from "./languages";
import { Said } from "../../parts/said";

addLanguages();

const EXPERIMENTAL = "bundles";

interface TextProps {
  kernel: Kernel;
  stage: string;
  onReady: () => void;
}

function Text({ kernel, stage, onReady }: TextProps) {
  const documents = useDocuments();
  const question = useQuestion("kernel", { doc: `${stage}:${kernel.key}` }, readInfo);
  useEffect(() => {
    if (stage === EXPERIMENTAL && question.state !== "waiting") onReady();
  }, [question.state]);
  if (!question.value) return <Waiting question={question} what={`Reading ${stage} of ${kernel.key}`} />;
  return <Pane doc={documents.further(question.value)} weight={1} />;
}

/** libtpu's dumps take five to ten times the compile and rest on flags that are not documented: only when asked for. */
function Experimental({ onClick }: { onClick: () => void }) {
  return (
    <div class="jxs-look">
      <span class="jxs-look-text jxs-anywhere">
        Experimental: libtpu recompiles the program and dumps its code through undocumented flags. This takes several times
        as long as its compile.
      </span>
      <button type="button" class="jxs-button jxs-boxed" onClick={onClick}>
        Get the bundles
      </button>
    </div>
  );
}

function Body({ kernel, stage, onReady }: TextProps) {
  const selection = useSelection();
  const [asked, ask] = useKeptState(`bundles asked ${selection.call}`, false);
  const why = kernel.lacks[stage];
  if (why) return <p class="jxs-lack jxs-anywhere"><Said text={why} /></p>;
  if (stage === EXPERIMENTAL && !asked) return <Experimental onClick={() => ask(true)} />;
  return <Text kernel={kernel} stage={stage} onReady={onReady} key={`${stage}:${kernel.key}`} />;
}

interface SideProps extends TextProps {
  table: KernelTable;
  onStage: (stage: string) => void;
  side: string;
}

function Side({ table, kernel, stage, onReady, onStage, side }: SideProps) {
  return (
    <div class="jxs-side jxs-grow jxs-column" data-side={side} data-stage={stage}>
      <div class="jxs-kernel-stages" role="group" aria-label={`${side} stage`}>
        {table.stages.map(({ name, title }) => (
          <button
            type="button"
            class={kernel.lacks[name] ? "jxs-toggle jxs-absent" : "jxs-toggle"}
            key={name}
            title={kernel.lacks[name] ?? title}
            data-pick={name}
            aria-pressed={name === stage}
            onClick={() => onStage(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <Body kernel={kernel} stage={stage} onReady={onReady} />
    </div>
  );
}

/** A kernel chosen here selects its HLO instruction; a line selected elsewhere, in whichever document, chooses its kernel. */
function useChosen(table: KernelTable): [Kernel | null, (kernel: Kernel) => void] {
  const documents = useDocuments();
  const selection = useSelection();
  const key = useSelected((s) => s.kernel);
  const hasCode = ({ lacks }: Kernel) => FIRST_STAGES[table.platform]?.some((stage) => !lacks[stage]) ?? false;
  const selected = useSelected((s) => s.selected);
  const hlo = documents.doc("hlo");
  const picked = selected && documents.doc(selected.doc);
  useDoc(hlo);
  useDoc(picked);
  const ofLine = () => {
    const [lit, rows] = [documents.lit(selected), hlo?.rows ?? null];
    return kernelOfLit(table.kernels.filter(hasCode), lit, rows) ?? kernelOfLit(table.kernels, lit, rows);
  };
  useEffect(() => {
    if (!selected || selected.from === "machine" || selected.doc.includes(":")) return;
    const found = selected.doc === "hlo" ? kernelAt(table.kernels, selected.row) : ofLine();
    if (found) selection.set({ kernel: found.key });
  }, [selected, table, hlo?.rows, picked?.rows]);
  const choose = (kernel: Kernel) => {
    selection.set({ kernel: kernel.key });
    const row = rowOf(kernel, (at) => hlo?.text?.line(at));
    if (row >= 0) selection.select("hlo", row, "machine");
  };
  const first = table.kernels.find((one) => one.own && hasCode(one)) ?? table.kernels.find(hasCode) ?? table.kernels[0] ?? null;
  return [table.kernels.find((kernel) => kernel.key === key) ?? first, choose];
}

function Browser({ table }: { table: KernelTable }) {
  const documents = useDocuments();
  const selection = useSelection();
  const [bundled, setBundled] = useKeptState(`bundles counted ${selection.call}`, false);
  const figures = useQuestion("figures", { bundled }, readFigures);
  const [chosen, choose] = useChosen(table);
  const stages = useSelected((s) => s.stages);
  const selected = useSelected((s) => s.selected);
  const [first, second] = FIRST_STAGES[table.platform] ?? ["", ""];
  const [left, right] = stages.some((name) => table.stages.some((s) => s.name === name)) ? stages : [first, second];
  const hlo = documents.loaded("hlo");
  const lit = litKernels(table.kernels, documents.lit(selected), hlo?.rows ?? null);
  const pick = (at: number) => (stage: string) =>
    selection.set({ stages: at === 0 ? [stage, right ?? second] : [left ?? first, stage] });
  const counted = () => setBundled(true);
  if (!chosen) return <p class="jxs-lack jxs-anywhere">This program runs no kernels: it computes nothing.</p>;
  return (
    <div class="jxs-machine">
      <KernelList table={table} figures={figures} chosen={chosen} lit={lit} onChoose={choose} />
      <div class="jxs-sides">
        <Side table={table} kernel={chosen} stage={left ?? first} onReady={counted} onStage={pick(0)} side="left" />
        <Side table={table} kernel={chosen} stage={right ?? second} onReady={counted} onStage={pick(1)} side="right" />
      </div>
    </div>
  );
}

/** The machine code of each kernel, stage beside stage, tied to the HLO instruction that it came from. */
export default function MachineView() {
  const question = useQuestion("kernels", {}, readKernels);
  if (!question.value) return <Waiting question={question} what="Recompiling for the machine code" />;
  return <Browser table={question.value} />;
}
