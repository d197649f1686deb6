import { useEffect, useState } from "preact/hooks";
import {
  FIRST_STAGES,
  type Kernel,
  type KernelTable,
  kernelAt,
  litKernels,
  readFigures,
  readInfo,
  readKernels,
  rowOf,
} from "./read";
import type { Session } from "../../model/session";
import { useDoc, useShared } from "../../parts/hooks";
import { KernelList } from "./list";
import { useQuestion } from "../../parts/useQuestion";
import { Pane } from "../../parts/pane";
import { Waiting } from "../../parts/waiting";

const EXPERIMENTAL = "bundles";

interface TextProps {
  session: Session;
  kernel: Kernel;
  stage: string;
  onReady: () => void;
}

function Text({ session, kernel, stage, onReady }: TextProps) {
  const question = useQuestion(session, "kernel", { doc: `${stage}:${kernel.key}` }, readInfo);
  useEffect(() => {
    if (stage === EXPERIMENTAL && question.state !== "waiting") onReady();
  }, [question.state]);
  if (!question.value) return <Waiting question={question} what={`Reading ${stage} of ${kernel.key}`} />;
  return <Pane doc={session.further(question.value)} session={session} weight={1} />;
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

function Body({ session, kernel, stage, onReady }: TextProps) {
  const [asked, ask] = useState(session.recall(`bundles asked ${session.call}`) === true);
  const why = kernel.lacks[stage];
  if (why) return <p class="jxs-lack jxs-anywhere">{why}</p>;
  const start = () => {
    session.keep(`bundles asked ${session.call}`, true);
    ask(true);
  };
  if (stage === EXPERIMENTAL && !asked) return <Experimental onClick={start} />;
  return <Text session={session} kernel={kernel} stage={stage} onReady={onReady} key={`${stage}:${kernel.key}`} />;
}

interface SideProps extends TextProps {
  table: KernelTable;
  onStage: (stage: string) => void;
  side: string;
}

function Side({ session, table, kernel, stage, onReady, onStage, side }: SideProps) {
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
      <Body session={session} kernel={kernel} stage={stage} onReady={onReady} />
    </div>
  );
}

/** A kernel chosen here selects its HLO instruction; an HLO line selected elsewhere chooses its kernel. */
function useChosen(session: Session, table: KernelTable): [Kernel | null, (kernel: Kernel) => void] {
  const key = useShared(session, (s) => s.kernel);
  const hasCode = ({ lacks }: Kernel) => FIRST_STAGES[table.platform]?.some((stage) => !lacks[stage]) ?? false;
  const selected = useShared(session, (s) => s.selected);
  const hlo = session.doc("hlo");
  useDoc(hlo);
  useEffect(() => {
    if (!selected || selected.from === "machine" || selected.doc !== "hlo") return;
    const found = kernelAt(table.kernels, selected.row);
    if (found) session.store.set({ kernel: found.key });
  }, [selected, table]);
  const choose = (kernel: Kernel) => {
    session.store.set({ kernel: kernel.key });
    const row = rowOf(kernel, (at) => hlo?.text?.line(at));
    if (row >= 0) session.select("hlo", row, "machine");
  };
  const first = table.kernels.find((one) => one.own && hasCode(one)) ?? table.kernels.find(hasCode) ?? table.kernels[0] ?? null;
  return [table.kernels.find((kernel) => kernel.key === key) ?? first, choose];
}

function Browser({ session, table }: { session: Session; table: KernelTable }) {
  const [bundled, setBundled] = useState(session.recall(`bundles counted ${session.call}`) === true);
  const figures = useQuestion(session, "figures", { bundled }, readFigures);
  const [chosen, choose] = useChosen(session, table);
  const stages = useShared(session, (s) => s.stages);
  const selected = useShared(session, (s) => s.selected);
  const [first, second] = FIRST_STAGES[table.platform] ?? ["", ""];
  const [left, right] = stages.some((name) => table.stages.some((s) => s.name === name)) ? stages : [first, second];
  const hlo = session.loaded("hlo");
  const lit = litKernels(table.kernels, session.lit(selected), hlo?.rows ?? null);
  const pick = (at: number) => (stage: string) =>
    session.store.set({ stages: at === 0 ? [stage, right ?? second] : [left ?? first, stage] });
  const counted = () => {
    session.keep(`bundles counted ${session.call}`, true);
    setBundled(true);
  };
  if (!chosen) return <p class="jxs-lack jxs-anywhere">This program runs no kernels: it computes nothing.</p>;
  return (
    <div class="jxs-machine">
      <KernelList session={session} table={table} figures={figures} chosen={chosen} lit={lit} onChoose={choose} />
      <div class="jxs-sides">
        <Side session={session} table={table} kernel={chosen} stage={left ?? first} onReady={counted} onStage={pick(0)} side="left" />
        <Side session={session} table={table} kernel={chosen} stage={right ?? second} onReady={counted} onStage={pick(1)} side="right" />
      </div>
    </div>
  );
}

/** The machine code of each kernel, stage beside stage, tied to the HLO instruction that it came from. */
export default function MachineView({ session }: { session: Session }) {
  const question = useQuestion(session, "kernels", {}, readKernels);
  if (!question.value) return <Waiting question={question} what="Recompiling for the machine code" />;
  return <Browser session={session} table={question.value} />;
}
