import { useMemo } from "preact/hooks";
import { useQuestion } from "../../parts/useQuestion";
import { Waiting } from "../../parts/waiting";
import type { TabProps } from "../tab";
import { LanesView } from "./lanesView";
import { modelOf } from "./model";
import { type Overview, readOverview } from "./read";

function Timeline({ session, overview }: { session: TabProps["session"]; overview: Overview }) {
  const model = useMemo(() => modelOf(session, overview), [session, overview]);
  return (
    <div class="jxs-timeline jxs-column">
      <LanesView model={model} />
    </div>
  );
}

/** What ran when. */
export default function TimelineView({ session }: TabProps) {
  const question = useQuestion(session, "timeline", {}, readOverview);
  if (!question.value) return <Waiting question={question} what="Reading the timeline" />;
  return <Timeline session={session} overview={question.value} key={session.call} />;
}
