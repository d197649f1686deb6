import { useMemo } from "preact/hooks";
import { Waiting } from "../../parts/waiting";
import { AboveLanes, BelowLanes } from "./besideLanes";
import { LanesView } from "./lanesView";
import { modelOf } from "./model";
import { type Overview, readOverview } from "./read";
import { focusSearch } from "./search";
import { useDocuments, useKept, useQuestion, useQuestions, useSelection } from "../../parts/hooks";

function Timeline({ overview }: { overview: Overview }) {
  const documents = useDocuments();
  const selection = useSelection();
  const questions = useQuestions();
  const kept = useKept();
  const model = useMemo(() => modelOf(documents, selection, questions, kept, overview), [selection, overview]);
  return (
    <div class="jxs-timeline jxs-column" onKeyDown={focusSearch}>
      <AboveLanes model={model} />
      <LanesView model={model} />
      <BelowLanes model={model} />
    </div>
  );
}

/** What ran when. */
export default function TimelineView() {
  const selection = useSelection();
  const question = useQuestion("timeline", {}, readOverview);
  if (!question.value) return <Waiting question={question} what="Reading the timeline" />;
  return <Timeline overview={question.value} key={selection.call} />;
}
