import type { TabProps } from "../tab";

/** What ran when. */
export default function TimelineView({ session }: TabProps) {
  return <div class="jxs-timeline">{session.summary?.name}</div>;
}
