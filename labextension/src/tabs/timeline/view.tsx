import { useMemo } from "preact/hooks";
import { Waiting } from "../../parts/waiting";
import { AboveLanes, BelowLanes } from "./besideLanes";
import { KindChoice, OfKind, useChosenKind } from "./kinds";
import { LanesView } from "./lanesView";
import { modelOf } from "./model";
import { type Overview, readOverview } from "./read";
import { focusSearch } from "./search";
import { useDocuments, useKept, useQuestion, useQuestions, useSelection } from "../../parts/hooks";

interface TimelineProps {
  overview: Overview;
  onKind: (kind: string) => void;
}

function Timeline({ overview, onKind }: TimelineProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const questions = useQuestions();
  const kept = useKept();
  const model = useMemo(() => modelOf(documents, selection, questions, kept, overview), [selection, overview]);
  return (
    <div class="jxs-timeline jxs-column" onKeyDown={focusSearch}>
      <KindChoice kinds={overview.kinds} now={overview.of} onChoose={onKind} />
      <AboveLanes model={model} />
      <LanesView model={model} />
      <BelowLanes model={model} />
    </div>
  );
}

function Shown({ onKind }: Pick<TimelineProps, "onKind">) {
  const selection = useSelection();
  const question = useQuestion("timeline", {}, readOverview);
  if (!question.value) return <Waiting question={question} what="Reading the timeline" />;
  return <Timeline overview={question.value} onKind={onKind} key={selection.call} />;
}

/** What ran when, or is predicted to. */
export default function TimelineView() {
  const [kind, choose] = useChosenKind();
  return (
    <OfKind kind={kind} key={kind}>
      <Shown onKind={choose} />
    </OfKind>
  );
}
