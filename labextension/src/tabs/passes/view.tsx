import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, difference } from "../../wire/figures";
import { type Diff, type History, type Pass, type PassList, deltaBytes, duration, readDiff, readHistory, readPasses } from "./read";
import type { Pick } from "../../model/place";
import { DetailStrip } from "../../parts/detailStrip";
import { DiffPane } from "./diffPane";
import { useDoc, useDocuments, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { IconButton } from "../../parts/icons";
import { Passes } from "./list";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

interface DiffProps {
  diff: Diff;
  pass: Pass;
  /** The row to go to when the difference opens. */
  place: Pick | null;
}

/** What a pass did, in its head; below, the module before and after it. */
function DiffOf({ diff, pass, place }: DiffProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const host = useRef<HTMLDivElement>(null);
  const pane = useRef<DiffPane | null>(null);
  const [changes, setChanges] = useState({ count: 0, at: 0 });
  const selected = useSelected((s) => s.selected);
  const [before, after] = useMemo(() => [documents.further(diff.before.info), documents.further(diff.after.info)] as const, [diff]);
  useDoc(before);
  useDoc(after);
  const problem = [before, after].find(({ text }) => !text)?.problem;
  const here = selected !== null && selected.doc.startsWith("pass:");
  useEffect(() => {
    const made = new DiffPane(documents, selection, diff, before, after);
    pane.current = made;
    made.onMove = () => setChanges(made.changes);
    made.onFollow = (doc, row) => selection.set({ follow: { doc, row, from: "" } });
    if (host.current) made.mount(host.current);
    return () => made.unmount();
  }, [diff]);
  useEffect(() => {
    if (place) pane.current?.reveal(place.doc, place.row);
  }, [diff, place]);
  const numbers = [difference(pass.instructions) && `${difference(pass.instructions)} instructions`];
  if (pass.fusions) numbers.push(`${difference(pass.fusions)} fusions`);
  if (pass.bytes) numbers.push(deltaBytes(pass.bytes));
  return (
    <>
      <div class="jxs-pane-head jxs-diff-head">
        <strong title={`${pass.pipeline}: ${pass.name}`}>{pass.name}</strong>
        <span class="jxs-diff-counts">
          {diff.counts.map(([what, n]) => (
            <span key={what} class={`jxs-n-${what}`} title={`${counted(n)} ${what}`}>
              {counted(n)}
              <span class="jxs-n-word"> {what}</span>
            </span>
          ))}
        </span>
        <span class="jxs-dim jxs-diff-numbers">{[...numbers.filter(Boolean), duration(pass.seconds)].join(" · ")}</span>
        <span class="jxs-grow" />
        {changes.count > 0 && !problem && (
          <>
            <span class="jxs-hits jxs-tabular" aria-live="polite">
              {changes.at} / {changes.count}
            </span>
            <IconButton icon="up" label="Previous change (p)" onClick={() => pane.current?.step(-1)} />
            <IconButton icon="down" label="Next change (n)" onClick={() => pane.current?.step(1)} />
          </>
        )}
        <IconButton
          icon="stack"
          label="Follow the selected instruction through the passes (h)"
          disabled={!here}
          onClick={() => here && selection.set({ follow: selected })}
        />
      </div>
      {!diff.counts.length && <p class="jxs-note jxs-diff-none">Only names and metadata differ.</p>}
      {problem && <p class="jxs-note jxs-diff-none" role="status"><Said text={problem} /></p>}
      <div class="jxs-diff-host" ref={host} hidden={!!problem} />
    </>
  );
}

function Selected({ pass, place }: { pass: Pass; place: Pick | null }) {
  const question = useQuestion<Diff>("pass_diff", { pass: pass.index }, readDiff);
  return (
    <div class="jxs-pass-main jxs-column" data-shown={question.value ? pass.index : undefined}>
      {question.value ? (
        <DiffOf diff={question.value} pass={pass} place={place} key={pass.index} />
      ) : (
        <Waiting question={question} what={`Comparing before and after ${pass.name}`} />
      )}
    </div>
  );
}

/** Fetches the history of the row that is followed, and hands it on. */
function Following({ pick, onReady }: { pick: Pick; onReady: (found: History) => void }) {
  const question = useQuestion("pass_history", { doc: pick.doc, row: pick.row }, readHistory);
  useEffect(() => {
    if (question.value) onReady(question.value);
  }, [question.value]);
  return question.value ? null : <Waiting question={question} what="Following the instruction through the passes" />;
}

function Body({ list }: { list: PassList }) {
  const selection = useSelection();
  const follow = useSelected((s) => s.follow);
  const [found, setFound] = useState<{ of: Pick; history: History } | null>(null);
  const history = found && found.of === follow ? found.history : null;
  const [place, setPlace] = useState<Pick | null>(null);
  const [open, setOpen] = useKeptState(`pass open ${selection.call}`, list.passes.find((pass) => pass.changed)?.index ?? null);
  const pick = (pass: Pass) => {
    setOpen(pass.index);
    const step = history?.steps.find((one) => one.pass === pass.index);
    const [row, version] = step?.after.length ? [step.after[0], pass.version] : [step?.before[0], pass.version - 1];
    setPlace(row === undefined ? null : { doc: `pass:${version}`, row, from: "" });
  };
  useEffect(() => {
    const last = history?.steps.at(-1);
    const pass = last && list.passes[last.pass];
    if (history && pass && !history.steps.some((step) => step.pass === open)) pick(pass);
  }, [history]);
  const unfollow = () => selection.set({ follow: null });
  const shown = open === null ? undefined : list.passes[open];
  return (
    <div class="jxs-passes jxs-column">
      {follow && !history && (
        <div class="jxs-pass-wait">
          <Following pick={follow} onReady={(history) => setFound({ of: follow, history })} key={`${follow.doc} ${follow.row}`} />
          <IconButton icon="close" label="Stop following" onClick={unfollow} />
        </div>
      )}
      <div class="jxs-passes-body">
        <Passes
          list={list}
          current={open}
          history={history}
          onPick={pick}
          onUnfollow={unfollow}
        />
        {shown ? (
          <Selected pass={shown} place={place} />
        ) : (
          <p class="jxs-note">No pass changed the module.</p>
        )}
      </div>
      {list.notes.map((note) => (
        <p class="jxs-note jxs-pass-note" key={note}>
          <Said text={note} />
        </p>
      ))}
      <DetailStrip />
    </div>
  );
}

/** XLA's passes: the list, and what each changed. The first look compiles once more in the worker. */
export default function PassesView() {
  const question = useQuestion<PassList>("passes", {}, readPasses);
  if (!question.value) return <Waiting question={question} what="Recompiling with a dump after each pass" />;
  return <Body list={question.value} />;
}
