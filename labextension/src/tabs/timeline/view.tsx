import { useMemo } from "preact/hooks";
import { useQuestion } from "../../parts/useQuestion";
import { Waiting } from "../../parts/waiting";
import type { TabProps } from "../tab";
import { AboveLanes, BelowLanes } from "./besideLanes";
import { LanesView } from "./lanesView";
import { modelOf } from "./model";
import { type Overview, readOverview } from "./read";
import { focusSearch } from "./search";

function Timeline({ session, overview }: { session: TabProps["session"]; overview: Overview }) {
  const model = useMemo(() => modelOf(session, overview), [session, overview]);
  return (
    <div class="jxs-timeline jxs-column" onKeyDown={focusSearch}>
      <AboveLanes model={model} />
      <LanesView model={model} />
      <BelowLanes model={model} />
    </div>
  );
}

/** What ran when. */
export default function TimelineView({ session }: TabProps) {
  const question = useQuestion(session, "timeline", {}, readOverview);
  if (!question.value) return <Waiting question={question} what="Reading the timeline" />;
  return <Timeline session={session} overview={question.value} key={session.call} />;
}
